/**
 * A protected resource: its metadata document (RFC 9728), its challenges (RFC 6750), and the verification of access
 * tokens (RFC 9068) without a request for each token, unless it is wanted.
 */
import { PassbookError, type PassbookErrorCode } from "../errors.ts";
import { readOrigin } from "../service_origin.ts";
import { isText, readExpiry, readSigned } from "../signed_token.ts";
import type { RunJobOptions, RunningJob, RunResult } from "../run_job.ts";
import type { Work } from "../settlement.ts";
import { createSigningKeys } from "../signing_keys.ts";
import type { Fetch } from "../transport.ts";
import { createCharges, type Charge, type Charges, type ResourceClient } from "./charges.ts";

/** The service, and your resource as an operator registered it. */
export interface ProtectedResourceOptions {
  /** The service's origin, which must equal the token's `iss`. */
  readonly baseUrl: string;
  /** The address of your resource as an operator registered it, such as `https://mcp.example.com/mcp`. */
  readonly resource: string;
  /** The scopes that every request needs, such as `["tools"]`; none if omitted. */
  readonly scopes?: readonly string[];
  /** The scopes that clients can request; those of `scopes` if omitted. */
  readonly scopesSupported?: readonly string[];
  /** The name that clients show. */
  readonly name?: string;
  /** A confidential client of your app, with which this server charges and checks tokens online. */
  readonly client?: ResourceClient;
  readonly fetch?: Fetch;
}

/** The claims of a valid access token. */
export interface VerifiedAccess {
  readonly token: string;
  /** The person who gave the access. */
  readonly identity_id: string;
  /** The client that the token was issued to. */
  readonly client_id: string;
  readonly scopes: readonly string[];
  /** When it expires, RFC 3339 in UTC. */
  readonly expires_at: string;
}

/** Your server for requests with a valid token. */
export type ProtectedHandler = (
  request: Request,
  access: VerifiedAccess,
) => Response | Promise<Response>;

/** Your server as a protected resource (RFC 9728). */
export interface ProtectedResource {
  /** The metadata document, which tells clients where people give access. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The address of that document. */
  readonly metadataUrl: string;
  /**
   * Verifies an `Authorization` header: signature, `typ`, `iss`, `aud`, `exp` and scopes. The token was signed at most ten
   * minutes ago; the access may have been revoked since.
   * @throws PassbookError `no_credentials` without a token, `unauthorized`, `token_expired`, `scope`; `no_response` if the
   * service's keys could not be fetched. `refuse` makes the response.
   */
  verify(authorization: string | null, scopes?: readonly string[]): Promise<VerifiedAccess>;
  /** The response to a request whose token `verify` refused. @throws every other error */
  refuse(error: unknown, scopes?: readonly string[]): Response;
  /**
   * A handler that serves the metadata document, and calls `handler` for every other request with a valid token.
   * @example
   * export default { fetch: resource.protect((request, { identity_id }) => new Response(identity_id)) };
   */
  protect(
    handler: ProtectedHandler,
    options?: ProtectOptions,
  ): (request: Request) => Promise<Response>;
  /**
   * Charges the person of a request for your work, as a job of your app within the limit of their connection: exchanges the
   * token, reserves `costEstimate`, runs `work`, and settles at the cost that it returns (see `PassbookClient.runJob`).
   * `request`: the request, or what `verify` or an MCP server says about its token. The exchanged token is kept in memory
   * for as long as it is valid; if the connection is revoked, the next call is refused all the same. Work that may take longer
   * than five minutes is settled with the key of your app. If the person allowed a job that was refused, the next charge of this
   * server for the same action and estimate presents their approval.
   * @throws PassbookError `token_budget_exceeded` if the limit is used up (`body.approval_url` is the page on which the
   * person can allow this one job), `insufficient_credits`, and what `verify` throws: `unauthorized` also if the connection
   * has ended, `scope` also if the person has not agreed to it yet; `invalid_target` if the resource does not charge
   */
  charge<Result>(
    request: Request | { readonly token: string },
    job: Charge,
    work: (job: RunningJob) => Promise<Work<Result>>,
    options?: RunJobOptions,
  ): Promise<RunResult<Result>>;
}

/** How tokens are checked. */
export interface ProtectOptions {
  /** Whether each token is checked at the service too, so that one of an ended connection is refused at once. */
  readonly online?: boolean;
}

/** RFC 9068, section 2.1. */
const ACCESS_TOKEN = { type: "at+jwt", algorithm: "RS256" } as const;

const WELL_KNOWN = "/.well-known/oauth-protected-resource";

/** The pause between two attempts to fetch the keys. */
const RETRY_AFTER_SECONDS = 30;

/** Clients may read the document again after this time. */
const METADATA_MAX_AGE_SECONDS = 3_600;

/**
 * Makes the protected resource. Make one and keep it, since it caches the service's keys. It sends nothing yet.
 * @throws PassbookError `invalid_argument` if an option is invalid.
 */
export function createProtectedResource(options: ProtectedResourceOptions): ProtectedResource {
  const { scopes: needed = [], scopesSupported = needed, name } = options;
  const issuer = readOrigin(options.baseUrl);
  const resource = readResource(options.resource);
  const { origin, pathname } = new URL(resource);
  const metadata_path = WELL_KNOWN + (pathname === "/" ? "" : pathname);
  const metadataUrl = origin + metadata_path;
  const send = options.fetch ?? ((url, init) => fetch(url, init));
  const findKey = createSigningKeys(issuer, send);
  const needCharges = chargesOf(issuer, options.client, send);
  const metadata = {
    resource,
    authorization_servers: [issuer],
    bearer_methods_supported: ["header"],
    ...(scopesSupported.length === 0 ? {} : { scopes_supported: scopesSupported }),
    ...(name === undefined ? {} : { resource_name: name }),
  };

  const verify: ProtectedResource["verify"] = async (authorization, scopes = needed) => {
    const [, token = ""] = /^Bearer +([\x21-\x7e]+)$/i.exec(authorization ?? "") ?? [];
    if (token === "") {
      const message = "Send an access token: Authorization: Bearer …";
      throw new PassbookError("no_credentials", message, { status: 401 });
    }
    const { iss, aud, sub, client_id, scope, exp } =
      (await readSigned(token, ACCESS_TOKEN, findKey)) ?? {};
    const is_ours = iss === issuer && aud === resource && isText(sub) && isText(client_id);
    if (!is_ours || typeof exp !== "number") {
      throw unauthorized(`This is not an access token for ${resource}.`);
    }
    const expires_at = readExpiry(exp);
    const given = isText(scope) ? scope.split(" ") : [];
    const missing = scopes.filter((name) => !given.includes(name));
    if (missing.length > 0) {
      const message = `The token lacks the scope ${missing.join(" ")}.`;
      throw new PassbookError("scope", message, { status: 403 });
    }
    return { token, identity_id: sub, client_id, scopes: given, expires_at };
  };

  const refuse: ProtectedResource["refuse"] = (error, scopes = needed) =>
    refusalOf(error, scopes, metadataUrl);

  return {
    metadata,
    metadataUrl,
    verify,
    refuse,
    protect(handler, { online = false } = {}) {
      const checked = online ? needCharges() : null;
      return async (request) => {
        // Only the path, because behind a proxy the server may see another host.
        if (new URL(request.url).pathname === metadata_path) return documentOf(request, metadata);
        let access: VerifiedAccess;
        try {
          access = await verify(request.headers.get("Authorization"));
          if (checked !== null && !(await checked.isActive(access.token))) throw ended();
        } catch (error) {
          return refuse(error);
        }
        return handler(request, access);
      };
    },
    async charge(request, job, work, run_options) {
      const access = await verify(authorizationOf(request));
      return needCharges().charge(access, job, work, run_options);
    },
  };
}

/** Gives the charges by the app's client. The function throws `invalid_argument` without a client. */
function chargesOf(
  issuer: string,
  client: ResourceClient | undefined,
  fetch: Fetch,
): () => Charges {
  const charges = client === undefined ? null : createCharges(issuer, client, fetch);
  return () => {
    if (charges !== null) return charges;
    throw new PassbookError("invalid_argument", "Pass client: { id, secret }, of your app.");
  };
}

function authorizationOf(request: Request | { readonly token: string }): string | null {
  return request instanceof Request
    ? request.headers.get("Authorization")
    : `Bearer ${request.token}`;
}

/** @throws `error` if it is no refusal. */
function refusalOf(error: unknown, scopes: readonly string[], metadata_url: string): Response {
  const challenge = error instanceof PassbookError ? CHALLENGES[error.code] : undefined;
  if (challenge === undefined) throw error;
  const { message, code } = error as PassbookError;
  const { status, error: reason } = challenge;
  const parameters = [
    ...(reason === null ? [] : [`error="${reason}"`]),
    ...(scopes.length === 0 ? [] : [`scope="${scopes.join(" ")}"`]),
    `resource_metadata="${metadata_url}"`,
  ];
  const retry = { "Retry-After": String(RETRY_AFTER_SECONDS) };
  const headers = {
    "Cache-Control": "no-store",
    // Clients in pages read the challenge too.
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "WWW-Authenticate",
    ...(status === 503 ? retry : { "WWW-Authenticate": `Bearer ${parameters.join(", ")}` }),
  };
  return Response.json({ error: message, code }, { status, headers });
}

/** Status and `error` of the challenge (RFC 6750, section 3). A request without a token gets no `error`. */
const CHALLENGES: Readonly<
  Partial<Record<PassbookErrorCode, { readonly status: number; readonly error: string | null }>>
> = {
  no_credentials: { status: 401, error: null },
  unauthorized: { status: 401, error: "invalid_token" },
  token_expired: { status: 401, error: "invalid_token" },
  scope: { status: 403, error: "insufficient_scope" },
  no_response: { status: 503, error: null },
};

function ended(): PassbookError {
  return unauthorized("The connection has ended. Authorize again.");
}

function unauthorized(message: string): PassbookError {
  return new PassbookError("unauthorized", message, { status: 401 });
}

/** The document, or what a page's preflight request needs: MCP clients send a header of their own with the request. */
function documentOf({ method }: Request, metadata: object): Response {
  const headers = {
    "Cache-Control": `max-age=${METADATA_MAX_AGE_SECONDS}`,
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Headers": "*",
  };
  if (method === "OPTIONS") return new Response(null, { status: 204, headers });
  return Response.json(metadata, { headers });
}

/** The address as tokens have it: a bare origin has no slash. @throws PassbookError `invalid_argument` */
function readResource(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.search + url.hash === "") {
    return url.pathname === "/" ? url.origin : text;
  }
  const message = `resource must be an address such as https://mcp.example.com/mcp, but it is "${text}".`;
  throw new PassbookError("invalid_argument", message);
}
