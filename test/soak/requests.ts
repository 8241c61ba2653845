/** The requests of one person, one after the other, and the responses that a repeated key must get again. */
import { signIn, type Person } from "../bench/people.ts";
import { expectRule, type Answer, type Caller, type Sent } from "./caller.ts";

/** A session token lives 15 minutes. */
const SIGNED_IN_MS = 8 * 60_000;
/** What is repeated after each kill: the newest. */
const KEPT = 20;

export class Requests {
  readonly caller: Caller;
  #person: Person;
  #signed_in_at_ms = performance.now();
  #answered: { readonly sent: Sent; readonly status: number; readonly text: string }[] = [];

  private constructor(caller: Caller, person: Person) {
    this.caller = caller;
    this.#person = person;
  }

  static async signIn(caller: Caller, email: string): Promise<Requests> {
    return new Requests(caller, await signIn(caller.service.url, email));
  }

  get identity_id(): string {
    return this.#person.identity_id;
  }

  get session(): readonly string[] {
    return this.#person.session;
  }

  get cookie(): readonly string[] {
    return this.#person.cookie;
  }

  async signInAgainInTime(): Promise<void> {
    if (performance.now() - this.#signed_in_at_ms < SIGNED_IN_MS) return;
    const before = this.session;
    const { caller } = this;
    this.#person = await caller.persist(() => signIn(caller.service.url, this.#person.email));
    this.#signed_in_at_ms = performance.now();
    this.#answered = this.#answered.map((it) =>
      it.sent.proof === before ? { ...it, sent: { ...it.sent, proof: this.session } } : it,
    );
  }

  ask(
    method: Sent["method"],
    path: string,
    body?: object,
    proof: readonly string[] = this.session,
  ): Promise<Answer> {
    return this.caller.ask({ method, path, proof, ...(body !== undefined && { body }) });
  }

  async read(path: string, proof = this.session): Promise<Answer> {
    const answer = await this.ask("GET", path, undefined, proof);
    expectRule(answer.status === 200, `${path} is read: ${answer.status} ${answer.text}`);
    return answer;
  }

  /** {@link tryOnce}, which succeeds. */
  async once(path: string, body: object, proof = this.session): Promise<Answer> {
    const answer = await this.tryOnce(path, body, proof);
    expectRule(answer.status === 200, `${path} succeeds: ${answer.status} ${answer.text}`);
    return answer;
  }

  /** A write with a key. Its response is kept, to be compared with a later one. */
  async tryOnce(path: string, body: object, proof = this.session): Promise<Answer> {
    const sent = { method: "POST", path, body, proof, key: crypto.randomUUID() } as const;
    const answer = await this.caller.ask(sent);
    const { status, text } = answer;
    this.#answered = [...this.#answered, { sent, status, text }].slice(-KEPT);
    return answer;
  }

  /** These keys are not repeated any more. */
  forget(isForgotten: (sent: Sent) => boolean): void {
    this.#answered = this.#answered.filter(({ sent }) => !isForgotten(sent));
  }

  /** Repeats the newest writes. */
  async expectRepeated(): Promise<void> {
    for (const { sent, status, text } of this.#answered) {
      const again = await this.caller.ask(sent);
      expectRule(
        again.status === status && again.text === text,
        `a repeated key gets its first response: ${sent.path} ${sent.key} of ${this.identity_id} got ${again.status} ${again.text} after ${status} ${text}`,
      );
    }
  }
}
