/**
 * Charging for a call of a resource: the token that came with it is exchanged for one that only charges, within the limit
 * that its person set for the connection.
 */
import { createClient } from "../client.ts";
import { createApprovals } from "./approvals.ts";
import { isPassbookError, PassbookError } from "../errors.ts";
import type { CreateJob } from "../jobs.ts";
import { introspectToken, requestTokens, type TokenEndpoint } from "../oauth/token_endpoint.ts";
import type { RunJobOptions, RunningJob, RunResult } from "../run_job.ts";
import type { Work } from "../settlement.ts";
import type { Fetch } from "../transport.ts";

/** A confidential client of the app that owns the resource. */
export interface ResourceClient {
  /** Such as `sketch~server`. */
  readonly id: string;
  readonly secret: string;
}

/** A job of the resource's app. `ttlSeconds` is 15 minutes if omitted, because no token that charges lives longer than 10. */
export type Charge = Omit<CreateJob, "app">;

/** Whose work it is. */
interface Access {
  readonly token: string;
  readonly identity_id: string;
  readonly client_id: string;
}

export interface Charges {
  /** Charges for a token that was verified. @throws PassbookError as `ProtectedResource.charge` */
  charge<Result>(
    access: Access,
    job: Charge,
    work: (job: RunningJob) => Promise<Work<Result>>,
    options?: RunJobOptions,
  ): Promise<RunResult<Result>>;
  /** Whether the access behind a token exists now. */
  isActive(token: string): Promise<boolean>;
}

/** A token that charges, for one received token. */
interface Exchanged {
  readonly token: Promise<string>;
  readonly expires_ms: number;
}

/** Work has at least this long before its token expires. So a received token is exchanged twice at most. */
const LIFE_LEFT_MIN_MS = 5 * 60_000;

const TTL_SECONDS = 15 * 60;

const TIMEOUT_MS = 10_000;

const TOKEN_TYPE = "urn:ietf:params:oauth:token-type:access_token";

/** @throws PassbookError `invalid_argument` if the client is no client of an app. */
export function createCharges(
  origin: string,
  { id, secret }: ResourceClient,
  fetch: Fetch,
): Charges {
  const [app = "", name = ""] = id.split("~");
  if (app === "" || name === "" || secret === "") {
    const message =
      "client needs the id of your app's client, such as sketch~server, and its secret.";
    throw new PassbookError("invalid_argument", message);
  }
  const endpoints: TokenEndpoint = {
    origin,
    client_id: id,
    client_secret: secret,
    fetch,
    timeoutMs: TIMEOUT_MS,
  };
  const approvals = createApprovals();
  const exchanged = new Map<string, Exchanged>();
  /** One exchange for all calls that come with a token at the same time. A failed one is forgotten. */
  const tokenFor = (received: string): Promise<string> => {
    const now_ms = Date.now();
    for (const [key, { expires_ms }] of exchanged) if (expires_ms <= now_ms) exchanged.delete(key);
    const known = exchanged.get(received);
    if (known !== undefined && known.expires_ms - now_ms > LIFE_LEFT_MIN_MS) return known.token;
    const request = requestTokens(endpoints, {
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      resource: origin,
      subject_token: received,
      subject_token_type: TOKEN_TYPE,
    });
    const token = request.then(
      ({ access_token, expires_in }) => {
        exchanged.set(received, { token, expires_ms: now_ms + expires_in * 1000 });
        return access_token;
      },
      (error: unknown) => {
        exchanged.delete(received);
        throw refusalOf(error);
      },
    );
    exchanged.set(received, { token, expires_ms: now_ms + LIFE_LEFT_MIN_MS + TIMEOUT_MS });
    return token;
  };
  return {
    async charge({ token, identity_id, client_id }, job, work, options = {}) {
      // Before runJob: it reports a failed exchange as a request without a response.
      await tokenFor(token);
      const passbook = createClient({ baseUrl: origin, token: () => tokenFor(token), fetch });
      // The errors of a server are not for the people who pay.
      const quiet = { reportReason: false, ...options };
      const same = JSON.stringify([identity_id, client_id, job.action, job.costEstimate]);
      return approvals.present(same, (approval) => {
        const known = approval === undefined ? {} : { approval };
        const created = { ttlSeconds: TTL_SECONDS, ...known, ...job, app };
        return passbook.runJob(created, work, quiet);
      });
    },
    isActive: (token) =>
      introspectToken(endpoints, token).catch((error: unknown) => {
        throw isBusy(error) ? new PassbookError("no_response", error.message) : error;
      }),
  };
}

/** The service cannot tell now, so the client tries again later. */
function isBusy(error: unknown): error is PassbookError {
  return isPassbookError(error, "temporarily_unavailable") || isPassbookError(error, "slow_down");
}

/** A refused exchange in the words of a resource: `refuse` sends the client to refresh its token, or to authorize again. */
function refusalOf(error: unknown): unknown {
  if (isPassbookError(error, "invalid_scope")) {
    const message = "The person has not agreed yet that this server charges. Authorize again.";
    return new PassbookError("scope", message, { status: 403, cause: error });
  }
  if (isPassbookError(error, "invalid_request")) {
    const message = "The connection has ended. Authorize again.";
    return new PassbookError("unauthorized", message, { status: 401, cause: error });
  }
  return error;
}
