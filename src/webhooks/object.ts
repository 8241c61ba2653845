/**
 * The sender of one account's events to one webhook: a Durable Object with both in its name. It reads the events from the
 * account, so what it has not delivered is never lost. Its alarm does the sending: no request waits for a receiver.
 */
import { DurableObject } from "cloudflare:workers";
import { backOff } from "../domain/back_off.ts";
import { reportError } from "../domain/error_report.ts";
import type { WebhookPosition } from "../domain/webhook_delivery.ts";
import { assertInvariant } from "../domain/result.ts";
import { shownAt, type RecordedAttempt } from "./attempts.ts";
import { readSenderName, type LastEvent, type WebhookSenderOperations } from "./sender_contract.ts";
import { sendRound, type SenderParts } from "./sender.ts";
import { readState, saveState, type SenderState, type WaitingEvent } from "./state.ts";

/** How long the sender of a deleted account remembers that it is done: longer than the account repeats `close`. */
const DONE_KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/** `worker.ts` extends it with its parts. */
export abstract class Sender extends DurableObject<Env> implements WebhookSenderOperations {
  /** @throws if the settings are wrong. */
  protected abstract openParts(): SenderParts;

  /** Since when rounds of this instance fail; null: the last one succeeded. */
  #failing_since_ms: number | null = null;

  async wake(news: string): Promise<boolean> {
    const { news: known, is_done, waiting } = this.#read();
    const waits = waiting !== null;
    if (is_done || known === news) return waits;
    // The alarm of a retry is set already. It may have been dropped.
    if (!waits || (await this.ctx.storage.getAlarm()) === null) this.#start();
    return waits;
  }

  resume(): boolean {
    const { generation, is_done, waiting } = this.#read();
    if (is_done) return false;
    this.#save({ generation: generation + 1, waiting: dueNow(waiting), news: null });
    this.#start();
    return waiting !== null;
  }

  replay(after_line: number, begin: WebhookPosition): void {
    const { generation, position, is_done, waiting } = this.#read();
    if (is_done) return;
    const delivered = position ?? begin;
    const { line, unnumbered } = delivered;
    const again = { line: after_line, low_left: false, unnumbered, balance_line: after_line };
    this.#save({
      generation: generation + 1,
      position: after_line < line ? again : delivered,
      waiting: dueNow(waiting),
      news: null,
    });
    this.#start();
  }

  attempts(): readonly RecordedAttempt[] {
    return shownAt(this.#read().attempts, Date.now());
  }

  close(news: string, last: LastEvent | null): boolean {
    const { news: delivered, is_done, last: known } = this.#read();
    if (is_done) return true;
    if (last !== null && known === null) this.#save({ last });
    if (delivered !== news || last !== null) this.#start();
    return delivered === news;
  }

  override async alarm(): Promise<void> {
    try {
      await this.#round();
      this.#failing_since_ms = null;
    } catch (error) {
      const now_ms = Date.now();
      this.#failing_since_ms ??= now_ms;
      console.warn({ event: "webhook_sender_failed", ...reportError(error) });
      const pause_ms = backOff(now_ms - this.#failing_since_ms, Math.random());
      void this.ctx.storage.setAlarm(now_ms + pause_ms);
      // If storage failed too, this rejects, and the platform repeats the alarm.
      await this.ctx.storage.sync();
    }
  }

  async #round(): Promise<void> {
    const { storage } = this.ctx;
    if (this.#read().is_done) return storage.deleteAll();
    const { name } = this.ctx.id;
    assertInvariant(name !== undefined, "a sender is reached by name");
    const parts = this.openParts();
    const { uid, identity_id } = readSenderName(name);
    const next = await sendRound({
      uid,
      identity_id,
      parts,
      read: () => this.#read(),
      save: (columns) => this.#save(columns),
    });
    if (next === "idle") return;
    if (next === "over") {
      await parts.deliveries.forget(uid, identity_id);
      this.#save({ is_done: true, last: null, waiting: null, attempts: [] });
    }
    void storage.setAlarm(next === "over" ? Date.now() + DONE_KEPT_MS : next);
  }

  #start(): void {
    void this.ctx.storage.setAlarm(Date.now());
  }

  #read(): SenderState {
    return readState(this.ctx.storage.kv);
  }

  #save(columns: Partial<SenderState>): SenderState {
    return saveState(this.ctx.storage.kv, columns);
  }
}

/** The attempts begin again. It stays stored, because it is in the list of operators. */
function dueNow(waiting: WaitingEvent | null): WaitingEvent | null {
  return waiting === null ? null : { ...waiting, attempts: 0, retry_at_ms: 0 };
}
