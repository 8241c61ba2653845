/** A token with a cap that a device gets: it is used up to its cap, and then signed out. */
import { expectRule } from "./caller.ts";
import type { Jobs, Spender } from "./jobs.ts";
import { APP } from "./registrations.ts";
import type { Requests } from "./requests.ts";

const CAP_CREDITS = 20;
/** What a job of a capped caller reserves and costs. */
export const CAPPED_JOB = { reserved: 3, cost: 2 };

interface Token extends Spender {
  readonly proof: readonly string[];
  readonly id: string;
}

export class DeviceTokens {
  readonly #requests: Requests;
  readonly #jobs: Jobs;
  #token: Token | null = null;

  constructor(requests: Requests, jobs: Jobs) {
    this.#requests = requests;
    this.#jobs = jobs;
  }

  async use(): Promise<void> {
    const token = (this.#token ??= await this.#signIn());
    if (token === null) return;
    const { proof } = token;
    if (token.spent + CAPPED_JOB.reserved <= CAP_CREDITS) {
      const job = await this.#jobs.create(CAPPED_JOB.reserved, { proof });
      await this.#jobs.end(job, CAPPED_JOB.cost, { proof, spender: token });
      return;
    }
    await this.#useApproval(token);
    const revoked = await this.#requests.ask("DELETE", `/api/tokens/${token.id}`);
    expectRule(revoked.status < 300 || revoked.is_repeated, `a token is revoked: ${revoked.text}`);
    const late = await this.#requests.ask("GET", "/api/wallet", undefined, proof);
    expectRule(late.status === 401, `a revoked token is refused: ${late.status}`);
    this.#requests.forget((sent) => sent.proof === proof);
    this.#token = null;
  }

  /** A job beyond the cap is refused, until the person approves it, and then goes through once. */
  async #useApproval({ proof }: Token): Promise<void> {
    const { reserved } = CAPPED_JOB;
    const body = { app: APP, action: "draw", cost_estimate: reserved };
    const beyond = await this.#requests.ask("POST", "/api/jobs", body, proof);
    const approval = String(beyond.json?.approval);
    const is_refused = beyond.json?.code === "token_budget_exceeded";
    expectRule(is_refused, `no cap is exceeded: ${beyond.status} ${beyond.text}`);
    const { caller, cookie } = this.#requests;
    const decided = await caller.postForm(`/approve/${approval}/approve`, {}, cookie);
    expectRule(decided.status === 303, `a job is approved: ${decided.status} ${decided.text}`);
    const job = await this.#jobs.create(reserved, { proof, approval });
    await this.#jobs.end(job, CAPPED_JOB.cost, { proof });
    const again = await this.#requests.ask("POST", "/api/jobs", { ...body, approval }, proof);
    expectRule(again.status >= 400, `an approval is good for one job: ${again.text}`);
  }

  /** Null: the only response with the token was lost. */
  async #signIn(): Promise<Token | null> {
    const requests = this.#requests;
    const started = (await requests.ask("POST", "/api/device/start", {}, [])).json;
    const { user_code, device_code } = started;
    const approval = { user_code, apps: [APP], caps: [{ credits: CAP_CREDITS }] };
    const approved = await requests.ask("POST", "/api/device/complete", approval, requests.cookie);
    expectRule(
      approved.status === 200 || approved.is_repeated,
      `a login is approved: ${approved.text}`,
    );
    const path = `/api/device/poll?device_code=${encodeURIComponent(device_code)}`;
    const polled = await requests.ask("GET", path, undefined, []);
    if (polled.status !== 200) {
      const is_lost = polled.is_repeated || approved.is_repeated;
      expectRule(is_lost, `a device gets its token: ${polled.status} ${polled.text}`);
      return null;
    }
    const proof = [`Authorization: Bearer ${polled.json.token}`];
    const { json } = await requests.read("/api/tokens", proof);
    const own = json.tokens.find(({ current }: { current: boolean }) => current);
    return { proof, id: own.id, spent: 0 };
  }
}
