/** A connection of an OAuth client: a person allows it on the consent page, and it renews its tokens and is revoked. */
import { createHash, randomBytes } from "node:crypto";
import { expectRule, type Caller } from "./caller.ts";

/** What is registered of a client. */
export interface Client {
  readonly id: string;
  readonly name: string;
  readonly public: boolean;
  readonly redirect_uris: readonly [string];
}

/** What a person allows a client. */
export interface Wanted {
  readonly app: string;
  readonly client: Client;
  readonly scope: string;
  /** The address of the resource that the tokens are for; null: our API. */
  readonly resource: string | null;
}

/** The limit that the app's registration, and so the consent page, suggests. */
export const CONNECTION_CAP_CREDITS = 20;

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

interface Listed {
  readonly id: string;
  readonly client: { readonly id: string } | null;
}

const attribute = (tag: string, name: string): string | null =>
  new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1]?.replaceAll("&amp;", "&") ?? null;

/** The values with which the page's form starts. */
function fieldsOf(page: string): URLSearchParams {
  const [form = ""] =
    /<form method="post" action="\/oauth\/authorize\/allow"[\s\S]*?<\/form>/.exec(page) ?? [];
  const fields = new URLSearchParams();
  for (const [tag] of form.matchAll(/<input[^>]*>/g)) {
    const name = attribute(tag, "name");
    const is_choice = /type="(radio|checkbox)"/.test(tag);
    if (name === null || (is_choice && !/ checked/.test(tag))) continue;
    fields.append(name, attribute(tag, "value") ?? "");
  }
  for (const [select] of form.matchAll(/<select[\s\S]*?<\/select>/g)) {
    const chosen = /<option value="([^"]*)" selected/.exec(select)?.[1] ?? "";
    fields.append(attribute(select, "name") ?? "", chosen);
  }
  return fields;
}

export class Connection {
  readonly #caller: Caller;
  readonly #client_id: string;
  #tokens: Tokens;
  /** What its jobs cost, less what was given back of it. */
  spent = 0;

  private constructor(caller: Caller, client_id: string, tokens: Tokens) {
    this.#caller = caller;
    this.#client_id = client_id;
    this.#tokens = tokens;
  }

  /** Lets a signed-in person allow the client. Null: the only response with the tokens may have been lost. */
  static async open(
    caller: Caller,
    { app, client, scope, resource }: Wanted,
    cookie: readonly string[],
  ): Promise<Connection | null> {
    const client_id = `${app}~${client.id}`;
    const [redirect_uri] = client.redirect_uris;
    const verifier = randomBytes(32).toString("base64url");
    const query = new URLSearchParams({
      response_type: "code",
      client_id,
      redirect_uri,
      scope,
      ...(resource === null ? {} : { resource }),
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
    });
    const path = `/oauth/authorize?${query.toString()}`;
    const asked = await caller.ask({ method: "GET", path, proof: cookie });
    const allowed =
      asked.status === 200
        ? await caller.postForm("/oauth/authorize/allow", fieldsOf(asked.text), cookie)
        : asked;
    const code = URL.parse(allowed.location ?? "")?.searchParams.get("code") ?? "";
    expectRule(
      code !== "" || allowed.is_repeated,
      `a person allows a client: ${asked.status} and ${allowed.status} ${allowed.text}`,
    );
    const issued = await caller.postForm("/oauth/token", {
      grant_type: "authorization_code",
      client_id,
      code,
      redirect_uri,
      code_verifier: verifier,
    });
    const is_lost = allowed.is_repeated || issued.is_repeated;
    expectRule(issued.status === 200 || is_lost, `a code gives tokens: ${issued.text}`);
    return issued.status === 200 ? new Connection(caller, client_id, issued.json) : null;
  }

  get access_token(): string {
    return this.#tokens.access_token;
  }

  get proof(): readonly string[] {
    return [`Authorization: Bearer ${this.#tokens.access_token}`];
  }

  /** Renews the tokens. A repeated request gets the same ones, as long as nothing used them. */
  async refresh(): Promise<void> {
    const { refresh_token } = this.#tokens;
    const grant = { grant_type: "refresh_token", client_id: this.#client_id, refresh_token };
    const renewed = await this.#caller.postForm("/oauth/token", grant);
    expectRule(renewed.status === 200, `tokens are renewed: ${renewed.status} ${renewed.text}`);
    const is_new = renewed.json.refresh_token !== refresh_token;
    expectRule(is_new, "a renewed connection has another refresh token");
    this.#tokens = renewed.json as Tokens;
  }

  /** The person revokes it on the service's own page. */
  async revoke(cookie: readonly string[]): Promise<void> {
    const listed = await this.#caller.ask({ method: "GET", path: "/api/tokens", proof: cookie });
    const own = (listed.json?.tokens as Listed[] | undefined)?.find(
      ({ client }) => client?.id === this.#client_id,
    );
    expectRule(own !== undefined, `a connection is listed: ${listed.status} ${listed.text}`);
    const path = `/api/tokens/${own?.id}`;
    const revoked = await this.#caller.ask({ method: "DELETE", path, proof: cookie });
    expectRule(revoked.status < 300 || revoked.is_repeated, `it is revoked: ${revoked.text}`);
  }

  /** Uses its tokens once more, after the person revoked it. */
  async expectEnd(): Promise<void> {
    const { refresh_token } = this.#tokens;
    const late = await this.#caller.ask({ method: "GET", path: "/api/wallet", proof: this.proof });
    expectRule(late.status === 401, `a revoked connection is refused: ${late.status}`);
    const grant = { grant_type: "refresh_token", client_id: this.#client_id, refresh_token };
    const refused = await this.#caller.postForm("/oauth/token", grant);
    expectRule(refused.status === 400, `a revoked refresh token is refused: ${refused.status}`);
  }
}
