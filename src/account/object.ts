/** One account, as a Durable Object named by its `identity_id`. Each of its {@link OPERATIONS} is a method. */
import { DurableObject } from "cloudflare:workers";
import { accepted, refused } from "../domain/result.ts";
import type { CardCharges } from "../domain/top_up.ts";
import { actingAllowance } from "./caller.ts";
import { WATCH_HEADER, type WatchRequest } from "./events/watcher.ts";
import { Instance } from "./instance.ts";
import { ensureOpen } from "./ledger/posting.ts";
import { OPERATIONS, type AccountOperations } from "./operations.ts";

// RPC reaches only members of the prototype, so the class adds the methods there.
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- the table has exactly these methods
export interface Account extends AccountOperations {}

export class Account extends DurableObject<Env> {
  readonly #instance: Instance;

  static {
    for (const [name, operation] of Object.entries(OPERATIONS)) {
      const value = function (this: Account, ...input: unknown[]): unknown {
        const run = (): unknown => Reflect.apply(operation, null, [this.#instance, ...input]);
        return this.#instance.recalling(run);
      };
      Object.defineProperty(Account.prototype, name, { value, configurable: true });
    }
  }

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#instance = new Instance(ctx, env, () => this.openCardCharges());
  }

  /** The payment service for automatic top-up; null: nothing is for sale. `worker.ts` overrides it. */
  protected openCardCharges(): CardCharges | null {
    return null;
  }

  /** Opens a stream of the account's events: a WebSocket that hibernates with the object. */
  override fetch(request: Request): Response {
    const watch = JSON.parse(request.headers.get(WATCH_HEADER) ?? "") as WatchRequest;
    const caller = watch.proof.kind === "session" ? watch.proof.through : watch.proof;
    const opened = this.#instance.transact(caller, "read", (it) => {
      ensureOpen(it);
      const allowance = actingAllowance(it);
      const no_room = this.#instance.openParts().streams.whyNoRoom(allowance);
      return no_room === null ? accepted(allowance) : refused(no_room);
    });
    if (!opened.ok) return Response.json(opened.refusal, { status: 403 });
    const { streams, alarm } = this.#instance.openParts();
    const { response, expires_at_ms } = streams.accept(watch, opened.value);
    alarm.by(expires_at_ms);
    return response;
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    this.#instance.openParts().streams.receive(socket, message);
  }

  override async alarm(): Promise<void> {
    await this.#instance.runAlarm();
  }
}
