/**
 * One account, as a Durable Object named by its `identity_id`. Each method runs one operation; the operations are in
 * the folders next to this file. More methods, by subject, are in `rpc/`.
 */
import type { PaymentRecord } from "../domain/payment_event.ts";
import type { Purchase, Reversal } from "../domain/purchases.ts";
import { accepted, refused } from "../domain/result.ts";
import type { WebhookEvents, WebhookEventsRequest } from "../domain/webhook_delivery.ts";
import type { UpstreamTokens } from "../oauth/upstream_tokens.ts";
import { endEarlierRelease, exercise, keepDirectoryMarker } from "./canary.ts";
import * as callers from "./caller.ts";
import type * as contract from "./contract.ts";
import { HOLDER, SERVICE, type Answer, type Caller, type OnceAnswer } from "./contract.ts";
import * as deletion from "./deletion/deletion.ts";
import { WATCH_HEADER, type WatchRequest } from "./events/watcher.ts";
import { WHOLE } from "./idempotency/responses.ts";
import { ensureOpen } from "./ledger/posting.ts";
import { readHoldings } from "./holdings.ts";
import * as operators from "./operators/acts.ts";
import { inspect } from "./operators/inspection.ts";
import {
  hashesOf,
  idsOfPayments,
  isKeptReversal,
  keepPayments,
  reverseKept,
  type HashOf,
} from "./purchases/kept_payments.ts";
import * as purchases from "./purchases/purchases.ts";
import { OAuthOperations } from "./rpc/oauth.ts";
import * as read_model from "./sync/repair.ts";
import { readEvents } from "./webhooks/pages.ts";

type Guard = contract.IdempotencyGuard | null;

export class Account extends OAuthOperations implements contract.AccountOperations {
  adjustCredits(
    request: contract.AdjustCreditsRequest,
    guard: Guard,
  ): OnceAnswer<contract.AdjustedCredits> {
    const stored = { endpoint: "admin.credits", form: WHOLE };
    return this.instance.transactOnce(SERVICE, "write", guard, stored, (it) =>
      operators.adjustCredits(it, request),
    );
  }

  refundJob(request: contract.RefundJobRequest, guard: Guard): OnceAnswer<contract.RefundedJob> {
    const stored = { endpoint: "admin.job_refund", form: WHOLE };
    return this.instance.transactOnce(SERVICE, "write", guard, stored, (it) =>
      operators.refundJob(it, request),
    );
  }

  changePlan(request: contract.ChangePlanRequest, guard: Guard): OnceAnswer<contract.ChangedPlan> {
    const stored = { endpoint: "admin.plan", form: WHOLE };
    return this.instance.transactOnce(SERVICE, "write", guard, stored, (it) =>
      operators.changePlan(it, request),
    );
  }

  inspect(): Answer<contract.InspectedAccount> {
    return this.instance.transact(SERVICE, "read", (it, { listJobs }) => inspect(listJobs, it));
  }

  suspend(): Answer<null> {
    const answer = this.instance.transact(SERVICE, "write", operators.suspend);
    this.instance.parts?.streams.closeAll("suspended");
    return answer;
  }

  restore(): Answer<null> {
    return this.instance.transact(SERVICE, "write", operators.restore);
  }

  async rebuild(): Promise<void> {
    const parts = this.instance.readModelParts;
    if (parts !== null) await read_model.rebuild(parts);
  }

  /** The queue lost something of this account on its way to D1. */
  catchUp(): void {
    const parts = this.instance.readModelParts;
    if (parts !== null) read_model.catchUp(parts);
  }

  async repair(): Promise<contract.Repair> {
    const parts = this.instance.readModelParts;
    if (parts === null) return "nothing_missing";
    this.instance.expireJobs(parts);
    return read_model.repair(parts);
  }

  deleteAccount(caller: Caller): Answer<null> {
    const answer = this.instance.transact(caller, "write", (it, { vault }) => {
      vault.forgetAll();
      return deletion.deleteAccount(it);
    });
    if (!answer.ok) return answer;
    const { erasure, streams } = this.instance.openParts();
    erasure.begin();
    streams.closeAll("account_deleted");
    return answer;
  }

  isDeleted(): boolean {
    return this.instance.isDeleted;
  }

  readOwed(): contract.Owed {
    const { parts } = this.instance;
    return parts === null
      ? { credits: 0, debt_ids: [], may_change: false }
      : deletion.readOwed(parts.store, parts.purchases);
  }

  openReturned(): Answer<null> {
    return this.instance.transact(SERVICE, "write", deletion.openReturned);
  }

  oweDebts(debts: readonly contract.Debt[]): Answer<null> {
    return this.instance.transact(SERVICE, "write", (it) => deletion.oweDebts(it, debts));
  }

  changeDebt(debt: contract.Debt): contract.OwedNow {
    const { isDeleted, parts } = this.instance;
    const known = parts?.store.readDebt(debt.id) ?? null;
    if (parts === null || known === null) return null;
    if (!isDeleted) {
      this.instance.transact(SERVICE, "write", (it) => {
        deletion.oweDebt(it, debt);
        return accepted(null);
      });
      return null;
    }
    return this.ctx.storage.transactionSync(() => {
      parts.store.saveDebt(debt.id, debt.credits, Date.now());
      return { credits: deletion.changeLeft(parts, known - debt.credits) };
    });
  }

  checkBuyer(caller: Caller): Answer<null> {
    return this.instance.transact(caller, "write", callers.checkBuyer);
  }

  recordPurchase(purchase: Purchase): Answer<null> {
    return this.instance.transact(SERVICE, "write", (it, parts) =>
      purchases.recordPurchase(it, parts.purchases, purchase),
    );
  }

  async recordReversal(reversal: Reversal): Promise<Answer<contract.OwedNow>> {
    const hashOf = await this.#keepPayments(reversal);
    const { parts } = this.instance;
    if (hashOf === null || parts === null) {
      return this.instance.transact(SERVICE, "write", (it, { purchases: bought }) =>
        purchases.recordReversal(it, bought, reversal),
      );
    }
    return this.ctx.storage.transactionSync(() => {
      const change = reverseKept(parts.purchases, hashOf, reversal);
      return change === null
        ? refused({ code: "account_unknown" })
        : accepted({ credits: deletion.changeLeft(parts, change) });
    });
  }

  /** Keeps the payments of an account that is deleted but not erased. Null: the account is not deleted. */
  async #keepPayments({ payment_intent_id, source_id }: Reversal): Promise<HashOf | null> {
    const { isDeleted, parts } = this.instance;
    const account = parts?.store.readAccount() ?? null;
    if (!isDeleted || parts === null || account === null) return null;
    const bought = parts.purchases;
    const ids = [payment_intent_id, source_id, ...idsOfPayments(bought)];
    const hashOf = await hashesOf(account.id, ids);
    if (parts.store.readAccount()?.erasure === "closing") keepPayments(bought, hashOf);
    return hashOf;
  }

  async checkPayment(
    payment: Pick<Purchase, "checkout_session_id"> | Reversal,
  ): Promise<PaymentRecord> {
    const { parts } = this.instance;
    const hashOf = "source_id" in payment ? await this.#keepPayments(payment) : null;
    if (this.instance.isDeleted) {
      if (parts === null || hashOf === null || !("source_id" in payment)) return "account_deleted";
      const is_known = isKeptReversal(parts.purchases, hashOf, payment);
      return is_known === null ? "account_deleted" : is_known ? "recorded" : "missing";
    }
    return parts !== null && purchases.isRecorded(parts.purchases, payment)
      ? "recorded"
      : "missing";
  }

  hasBought(payment_intent_id: string): boolean {
    return (this.instance.parts?.purchases.readPurchaseOf(payment_intent_id) ?? null) !== null;
  }

  readPurchase(caller: Caller, checkout_session_id: string): Answer<contract.ListedPurchase> {
    return this.instance.transact(caller, "read", (it, parts) =>
      purchases.readPurchase(it, parts.purchases, checkout_session_id),
    );
  }

  listPurchases(
    caller: Caller,
    request: contract.ListPurchasesRequest,
  ): Answer<contract.Page<contract.PurchaseRecord, contract.PurchaseKey>> {
    return this.instance.transact(caller, "read", (_, parts) =>
      purchases.listPurchases(parts.purchases, request),
    );
  }

  readHoldings(caller: Caller): Answer<contract.Holdings> {
    return this.instance.transact(caller, "read", readHoldings);
  }

  exercise(released_at: string | null): Answer<null> {
    endEarlierRelease(this.ctx, this.env.RELEASE, released_at);
    return this.instance.transact(SERVICE, "write", exercise);
  }

  keepDirectoryMarker(id: string): string {
    return keepDirectoryMarker(this.ctx, id);
  }

  async keepUpstreamTokens(
    tokens: UpstreamTokens,
    encryption_keys: contract.VaultSettings["encryption_keys"],
  ): Promise<void> {
    await this.instance.openParts().vault.keep(tokens, encryption_keys);
  }

  async readUpstreamToken(
    caller: Caller,
    provider: string,
    settings: contract.VaultSettings,
  ): Promise<Answer<contract.HandedOutUpstreamToken>> {
    const admitted = this.instance.transact(caller, "read", (it) =>
      callers.checkUpstream(it, settings.receiving_apps),
    );
    return admitted.ok ? this.instance.openParts().vault.read(provider, settings) : admitted;
  }

  forgetUpstreamTokens(provider: string, linked_at_ms: number): void {
    this.instance.openParts().vault.forget(provider, linked_at_ms);
  }

  readWebhookEvents(request: WebhookEventsRequest): WebhookEvents | null {
    const { parts } = this.instance;
    return parts === null ? null : readEvents(parts.event_sources, request);
  }

  /** Opens a stream of the account's events: a WebSocket that hibernates with the object. */
  override fetch(request: Request): Response {
    const watch = JSON.parse(request.headers.get(WATCH_HEADER) ?? "") as WatchRequest;
    const opened = this.instance.transact(
      watch.proof.kind === "session" ? HOLDER : watch.proof,
      "read",
      (it, { streams }) => {
        ensureOpen(it);
        const allowance = callers.actingAllowance(it);
        const no_room = streams.whyNoRoom(allowance);
        return no_room === null ? accepted(allowance) : refused(no_room);
      },
    );
    if (!opened.ok) return Response.json(opened.refusal, { status: 403 });
    const { streams, alarm } = this.instance.openParts();
    const { response, expires_at_ms } = streams.accept(watch, opened.value);
    alarm.by(expires_at_ms);
    return response;
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    this.instance.openParts().streams.receive(socket, message);
  }

  override async alarm(): Promise<void> {
    await this.instance.ring();
  }
}
