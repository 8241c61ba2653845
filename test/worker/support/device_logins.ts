/** Device logins through HTTP, for tests in workerd. */
import { BASE_URL, send, signIn, type Answer, type SignedIn } from "./passbook.ts";
import type { DeviceAuthorization } from "./device_client.ts";

type Settings = object;

/** Starts a login. `client` describes the device client. */
export async function startLogin(client: object = {}, settings: Settings = {}) {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify(client);
  const answer = await send("POST", "/api/device/start", { headers, body }, settings);
  return answer.body as DeviceAuthorization;
}

/** One poll of a device. */
export function poll(device_code: string, settings: Settings = {}): Promise<Answer> {
  const query = new URLSearchParams({ device_code });
  return send("GET", `/api/device/poll?${query.toString()}`, {}, settings);
}

/** The headers of a browser on our own page: cookies and origin. */
export function fromOwnPage(person: SignedIn): Record<string, string> {
  return { Cookie: person.cookies, Origin: BASE_URL };
}

/** Approves a login as a signed-in browser; `limits` are those of the token. */
export function approve(
  person: SignedIn,
  user_code: string,
  limits: object = {},
  settings: Settings = {},
): Promise<Answer> {
  const headers = { ...fromOwnPage(person), "Content-Type": "application/json" };
  const body = JSON.stringify({ user_code, ...limits });
  return send("POST", "/api/device/complete", { headers, body }, settings);
}

/** A session token that the service's own page got: its `azp` is the service, and not an app. */
export async function ownSessionToken(person: SignedIn): Promise<string> {
  return (await send("GET", "/api/sessionToken", { headers: fromOwnPage(person) })).body.token;
}

/** Approves a login with a session token of the service's own page. */
export async function approveByBearer(
  person: SignedIn,
  user_code: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return holderOf(await ownSessionToken(person)).post(
    "/api/device/complete",
    { user_code },
    headers,
  );
}

/** Posts one of the page's forms as a signed-in browser. */
export function postForm(
  person: SignedIn,
  path: string,
  fields: Record<string, string>,
): Promise<Answer> {
  return send("POST", path, { headers: fromOwnPage(person), body: new URLSearchParams(fields) });
}

/** The form of the page with its defaults and the letters that the device shows. */
export function approvalForm(
  user_code: string,
  choices: Record<string, string> = {},
): Record<string, string> {
  const last_letters = user_code.slice(-4);
  const untouched = { access: "write", reach: "all", credits: "", period: "total", other_apps: "" };
  const form = { user_code, last_letters, ...untouched, ...choices };
  // The page asks once more about a limit that is left empty.
  return form.credits === "" ? { ...form, no_limit: "yes" } : form;
}

/** Opens the page of a code as a signed-in browser. */
export function openPage(
  person: SignedIn,
  user_code: string,
  settings: Settings = {},
): Promise<Answer> {
  const headers = { Cookie: person.cookies };
  return send("GET", `/device?user_code=${user_code}`, { headers }, settings);
}

/** A personal access token, and calls that carry it. */
export interface TokenHolder {
  readonly token: string;
  get(path: string): Promise<Answer>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  revoke(personal_token_id: string): Promise<Answer>;
}

/** Calls that carry a bearer token. */
export function holderOf(token: string, settings: Settings = {}): TokenHolder {
  const authorization = { Authorization: `Bearer ${token}` };
  return {
    token,
    get: (path) => send("GET", path, { headers: authorization }, settings),
    post: (path, body, headers = {}) =>
      send(
        "POST",
        path,
        {
          headers: { ...authorization, "Content-Type": "application/json", ...headers },
          body: JSON.stringify(body),
        },
        settings,
      ),
    revoke: (personal_token_id) =>
      send("DELETE", `/api/tokens/${personal_token_id}`, { headers: authorization }, settings),
  };
}

/** A whole device login: started, approved by `person` within `limits`, and collected. */
export async function getToken(
  person: SignedIn,
  limits: object = {},
  client: object = {},
): Promise<TokenHolder> {
  const { device_code, user_code } = await startLogin(client);
  await approve(person, user_code, limits);
  const collected = await poll(device_code);
  return holderOf(collected.body.token);
}

/** The id of a token, as the list shows it to the token itself. */
export async function tokenId(holder: TokenHolder): Promise<string> {
  const { body } = await holder.get("/api/tokens");
  return body.tokens.find((token: { current: boolean }) => token.current).id;
}

/** Two people, signed in. */
export async function twoPeople(): Promise<readonly [SignedIn, SignedIn]> {
  return [await signIn("ada@example.com"), await signIn("bob@example.com")];
}
