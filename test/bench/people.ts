/** Callers: accounts and credentials, created through Passbook's public API. */

/** A signed-in person, with the header lines of each kind of credentials. */
export interface Person {
  readonly email: string;
  readonly identity_id: string;
  readonly session: readonly string[];
  readonly cookie: readonly string[];
}

async function expectOk(response: Response): Promise<string> {
  const text = await response.text();
  if (response.ok) return text;
  throw new Error(`${response.url} responded with ${response.status}: ${text.slice(0, 300)}`);
}

/** Signs a person in again: a session token lives 15 minutes. */
export async function signIn(url: string, email: string): Promise<Person> {
  const body = new URLSearchParams({ email, redirect_to: "http://localhost:3000/" });
  const landed = await fetch(`${url}/signin/dev`, { method: "POST", redirect: "manual", body });
  const token = new URL(landed.headers.get("Location") ?? "").searchParams.get("token");
  if (token === null) throw new Error(`sign-in responded with ${landed.status} without a token`);
  const cookies = landed.headers.getSetCookie().map((cookie) => cookie.split(";")[0]);
  const [, payload = ""] = token.split(".");
  const { sub } = JSON.parse(Buffer.from(payload, "base64url").toString()) as { sub: string };
  return {
    email,
    identity_id: sub,
    session: [`Authorization: Bearer ${token}`],
    // The origin of the service's own page, since writes with a cookie need an allowed origin.
    cookie: [`Cookie: ${cookies.join("; ")}`, `Origin: ${url}`],
  };
}

/** Gets a personal access token with these limits by device login. @returns its header lines */
export async function deviceLogin(
  url: string,
  person: Person,
  limits: object = {},
): Promise<readonly string[]> {
  const post = (path: string, body: object, headers: Record<string, string>): Promise<Response> =>
    fetch(`${url}${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const start = await expectOk(await post("/api/device/start", {}, {}));
  const { device_code, user_code } = JSON.parse(start) as Record<string, string>;
  const own_page = Object.fromEntries(
    person.cookie.map((line) => line.split(/: (.*)/s).slice(0, 2)),
  );
  await expectOk(await post("/api/device/complete", { user_code, ...limits }, own_page));
  const poll = `${url}/api/device/poll?device_code=${encodeURIComponent(device_code ?? "")}`;
  const { token } = JSON.parse(await expectOk(await fetch(poll))) as { token?: string };
  if (token === undefined) throw new Error("the device login gave no token");
  return [`Authorization: Bearer ${token}`];
}

/** Opens an account with starter credits at a contender. */
export function openWallet(url: string, person: Person): Promise<void> {
  return readWallet(url, person.session, "?app=bench");
}

/** Reads the wallet of the caller with these header lines. */
export async function readWallet(url: string, proof: readonly string[], query = ""): Promise<void> {
  const [authorization = ""] = proof;
  const headers = { Authorization: authorization.slice("Authorization: ".length) };
  await expectOk(await fetch(`${url}/api/wallet${query}`, { headers }));
}

/** Runs a function for each item, several at a time. */
export async function forEach<Item, Value>(
  items: readonly Item[],
  act: (item: Item) => Promise<Value>,
): Promise<Value[]> {
  const values: Value[] = [];
  for (let at = 0; at < items.length; at += 20) {
    values.push(...(await Promise.all(items.slice(at, at + 20).map(act))));
  }
  return values;
}
