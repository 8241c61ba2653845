/** A person who deletes their account again and again while a job of it is started, and comes back to a new one. */
import { deviceLogin, signIn, type Person } from "../bench/people.ts";
import { pause } from "../bench/pause.ts";
import { expectRule, type Caller } from "./caller.ts";
import { APP, type Operator } from "./registrations.ts";

/** Accounts whose tokens are tried again after each kill: the newest. */
const KEPT = 5;
const FORGOTTEN_MAX_MS = 5 * 60_000;

/** A deleted account, and the tokens that it had, as header lines. */
interface Gone {
  readonly identity_id: string;
  readonly proofs: readonly (readonly string[])[];
}

export class Leaver {
  readonly #caller: Caller;
  readonly #email: string;
  readonly #operator: Operator;
  /** All accounts that were deleted. */
  readonly #gone: Gone[] = [];

  constructor(caller: Caller, email: string, operator: Operator) {
    this.#caller = caller;
    this.#email = email;
    this.#operator = operator;
  }

  get deletions(): number {
    return this.#gone.length;
  }

  /** Opens an account, starts a job in it, and deletes it. */
  async act(): Promise<void> {
    const caller = this.#caller;
    const person = await caller.persist(() => signIn(caller.service.url, this.#email));
    await this.#expectNothing(person);
    await this.#startJob(person);
    const device = await caller.persist(() => deviceLogin(caller.service.url, person));
    const confirmation = { confirmation: "delete" };
    const deleted = await caller.postForm("/account/delete", confirmation, person.cookie);
    expectRule(
      deleted.status === 200 || deleted.is_repeated,
      `an account is deleted: ${deleted.status} ${deleted.text.slice(0, 300)}`,
    );
    const gone = { identity_id: person.identity_id, proofs: [person.session, device] };
    this.#gone.push(gone);
    await this.#expectRefused(gone);
  }

  /** No token of a deleted account is accepted. */
  async checkEverything(): Promise<void> {
    for (const gone of this.#gone.slice(0 - KEPT)) await this.#expectRefused(gone);
  }

  /** Waits until operators find nothing of any deleted account. */
  async settle(): Promise<void> {
    const until_ms = performance.now() + FORGOTTEN_MAX_MS;
    for (const { identity_id } of this.#gone) {
      const left = async () => {
        const path = `/api/admin/accounts/${identity_id}`;
        const { status } = await this.#ask(path, this.#operator.proof);
        const jobs = await this.#ask(`${path}/jobs`, this.#operator.proof);
        return status === 404 && (jobs.status === 404 || jobs.json.jobs.length === 0)
          ? null
          : `${status} and ${jobs.status} ${jobs.text.slice(0, 200)}`;
      };
      for (let what = await left(); what !== null; what = await left()) {
        const is_in_time = performance.now() < until_ms;
        expectRule(is_in_time, `nothing is left of ${identity_id}: ${what}`);
        await pause(500);
      }
    }
  }

  /** The account is a new one, and the person has no starter credits for a second time. */
  async #expectNothing({ session, identity_id }: Person): Promise<void> {
    const is_new = this.#gone.every((gone) => gone.identity_id !== identity_id);
    expectRule(is_new, `a person who comes back has another account: ${identity_id}`);
    const wallet = await this.#ask(`/api/wallet?app=${APP}`, session);
    const { account, held } = wallet.json ?? {};
    const is_empty = held === 0 && (this.#gone.length === 0 || account?.credits === 0);
    expectRule(is_empty, `a person who comes back begins with nothing: ${wallet.text}`);
  }

  async #startJob({ session, identity_id }: Person): Promise<void> {
    const gift = { amount: 50, reason: "for the first jobs" };
    const path = `/api/admin/accounts/${identity_id}/credits`;
    const key = crypto.randomUUID();
    const { proof } = this.#operator;
    const given = await this.#caller.ask({ method: "POST", path, proof, body: gift, key });
    expectRule(given.status === 200, `a person gets credits: ${given.status} ${given.text}`);
    const body = { app: APP, action: "draw", cost_estimate: 5 };
    const sent = { method: "POST", path: "/api/jobs", proof: session, body } as const;
    for (let job = 0; job < 2; job += 1) {
      const created = await this.#caller.ask({ ...sent, key: crypto.randomUUID() });
      expectRule(created.status === 200, `a job starts: ${created.status} ${created.text}`);
    }
  }

  async #expectRefused({ identity_id, proofs }: Gone): Promise<void> {
    for (const proof of proofs) {
      const { status } = await this.#ask("/api/wallet", proof);
      expectRule(
        status === 401,
        `a token of a deleted account is refused: ${status} ${identity_id}`,
      );
    }
  }

  #ask(path: string, proof: readonly string[]) {
    return this.#caller.ask({ method: "GET", path, proof });
  }
}
