/** A connected OAuth client that uses the account up to its cap, and is then revoked. */
import { expectRule, type Answer, type Caller, type Sent } from "./caller.ts";
import { Connection, CONNECTION_CAP_CREDITS, type Wanted } from "./connection.ts";
import type { Jobs } from "./jobs.ts";
import {
  AGENT,
  APP,
  RESOURCE,
  SERVER_CLIENT_ID,
  TOOL_USER,
  type Operator,
} from "./registrations.ts";
import type { Requests } from "./requests.ts";
import { CAPPED_JOB } from "./tokens.ts";

const TO_OUR_API: Wanted = {
  app: APP,
  client: AGENT,
  scope: "read write offline_access",
  resource: null,
};
const TO_THE_RESOURCE: Wanted = {
  app: APP,
  client: TOOL_USER,
  scope: "tools offline_access",
  resource: RESOURCE,
};

const isOfConnection = ({ proof: [line = ""] }: Sent): boolean => line.includes(" pb_at_");

/** How the server of a resource gets a token that charges for a connection. */
type Exchange = (connection: Connection) => Promise<Answer>;

export class Connected {
  readonly #requests: Requests;
  readonly #jobs: Jobs;
  readonly #wanted: Wanted;
  /** Null: the client runs jobs itself, with its own tokens. */
  readonly #exchange: Exchange | null;
  #connection: Connection | null = null;

  private constructor(
    requests: Requests,
    jobs: Jobs,
    wanted: Wanted,
    exchange_: Exchange | null = null,
  ) {
    this.#requests = requests;
    this.#jobs = jobs;
    this.#wanted = wanted;
    this.#exchange = exchange_;
  }

  /** A client of our API. */
  static agent(requests: Requests, jobs: Jobs): Connected {
    return new Connected(requests, jobs, TO_OUR_API);
  }

  /** A client of a resource, whose server charges for each use. */
  static toolUser(requests: Requests, jobs: Jobs, operator: Operator): Connected {
    return new Connected(requests, jobs, TO_THE_RESOURCE, (connection) =>
      exchange(requests.caller, operator, connection),
    );
  }

  async use(): Promise<void> {
    const { caller, cookie } = this.#requests;
    const connection = (this.#connection ??= await Connection.open(caller, this.#wanted, cookie));
    if (connection === null) return;
    const proof = await this.#proofFor(connection);
    const by = { proof, sees_credits: this.#exchange === null, spender: connection };
    if (connection.spent + CAPPED_JOB.reserved <= CONNECTION_CAP_CREDITS) {
      const job = await this.#jobs.create(CAPPED_JOB.reserved, by);
      await this.#jobs.end(job, CAPPED_JOB.cost, by);
      return;
    }
    const body = { app: APP, action: "draw", cost_estimate: CAPPED_JOB.reserved };
    const beyond = await this.#requests.ask("POST", "/api/jobs", body, proof);
    const is_refused = beyond.json?.code === "token_budget_exceeded";
    expectRule(is_refused, `no cap is exceeded: ${beyond.status} ${beyond.text}`);
    await connection.revoke(cookie);
    await this.#expectEnd(connection, proof);
    this.#connection = null;
    this.#requests.forget(isOfConnection);
  }

  /** The header lines of a job of the connection. */
  async #proofFor(connection: Connection): Promise<readonly string[]> {
    if (this.#exchange === null) return connection.proof;
    const { status, text, json } = await this.#exchange(connection);
    expectRule(status === 200, `a server gets a token that charges: ${status} ${text}`);
    return [`Authorization: Bearer ${json.access_token}`];
  }

  /** An access token lives ten minutes. */
  async renew(): Promise<void> {
    if (this.#connection === null) return;
    await this.#connection.refresh();
    // A key is the caller's, but the header of the request that is repeated has ended.
    this.#requests.forget(isOfConnection);
  }

  /** Nothing of a revoked connection is accepted any more. */
  async #expectEnd(connection: Connection, proof: readonly string[]): Promise<void> {
    const late = await this.#requests.ask("GET", "/api/wallet", undefined, proof);
    expectRule(late.status === 401, `a revoked connection is refused: ${late.status} ${late.text}`);
    await connection.expectEnd();
    const exchanged = await this.#exchange?.(connection);
    const is_refused = exchanged === undefined || exchanged.status === 400;
    expectRule(is_refused, `a revoked connection cannot be charged: ${exchanged?.text}`);
  }
}

function exchange(
  caller: Caller,
  { client_secret }: Operator,
  { access_token }: Connection,
): Promise<Answer> {
  return caller.postForm("/oauth/token", {
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    subject_token: access_token,
    subject_token_type: "urn:ietf:params:oauth:token-type:access_token",
    client_id: SERVER_CLIENT_ID,
    client_secret,
    resource: caller.service.url,
  });
}
