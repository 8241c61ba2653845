/**
 * Everything that the service stores about a person, as one JSON document: for the holder at `/account/data.json`, and
 * for operators. It contains no secrets, and no digests and responses of idempotency keys, which are kept for a day.
 */
import {
  OPERATOR,
  type Answer,
  type Holdings,
  type ListedAllowance,
  type OnceAnswer,
  type Page,
  type PurchaseKey,
  type PurchaseRecord,
} from "../account/contract.ts";
import { PAGE_MAX_ROWS } from "../domain/limits.ts";
import { accepted } from "../domain/result.ts";
import { lotView, topUpView } from "../domain/wire.ts";
import type { ListedSession, Person } from "../identity/port.ts";
import { exportAccount } from "../operator/account_privacy.ts";
import type { ActionRequest } from "../operator/audited_action.ts";
import { actingOf } from "./caller/acting.ts";
import { holderId } from "./caller/holder.ts";
import type { AppContext } from "./context.ts";
import { personalTokenView } from "./api/personal_tokens/list.ts";
import { refuseByAccept } from "./refusal_page.ts";
import type { Services } from "./services.ts";
import { entryView, jobView, timeOrNull, timestamp } from "./views.ts";

type DataServices = Pick<Services, "accounts" | "audit" | "identity">;
type Chunks = AsyncGenerator<string, void, undefined>;

/** Responds with the document as a download. The caller has checked that the person exists. */
export async function respondWithPersonData(
  context: AppContext,
  identity_id: string,
  filename: string,
): Promise<Response> {
  const chunks = await collectPersonData(context.get("services"), identity_id);
  if (!chunks.ok) return refuseByAccept(context, chunks.refusal);
  return respondWithDocument(context, chunks.value, filename);
}

/** Exports the data of the holder whom an operator's URL names, as a download. */
export async function respondWithExport(
  context: AppContext,
  request: ActionRequest,
): Promise<OnceAnswer<Response>> {
  const identity_id = holderId(context);
  return exportAccount(await actingOf(context), identity_id, request, async () => {
    const collected = await collectPersonData(context.get("services"), identity_id);
    return collected.ok
      ? accepted(respondWithDocument(context, collected.value, "person-data.json"))
      : collected;
  });
}

/** Responds with a collected document as a download. */
function respondWithDocument(context: AppContext, chunks: Chunks, filename: string): Response {
  context.header("Content-Type", "application/json; charset=utf-8");
  context.header("Content-Disposition", `attachment; filename="${filename}"`);
  return context.body(streamOf(chunks));
}

/**
 * The document in chunks, each of at most one page of a list, so that memory does not limit its size. The account is read
 * as by an operator, because its holder may download the data of a suspended account too.
 */
async function collectPersonData(
  { accounts, audit, identity }: DataServices,
  identity_id: string,
): Promise<Answer<Chunks>> {
  const account = accounts(identity_id);
  const [person, holdings] = await Promise.all([
    identity.readPerson(identity_id),
    account.readHoldings(OPERATOR),
  ]);
  if (!holdings.ok) return holdings;
  const limit = PAGE_MAX_ROWS;
  const facts = factsOf(person, holdings.value);
  return accepted(
    documentChunks(facts, {
      sessions: arrayChunks(
        async (after_id: string | undefined) =>
          pageOf(await identity.pageSessions(identity_id, after_id ?? "", limit), limit),
        sessionView,
      ),
      purchases: arrayChunks(
        (before: PurchaseKey | undefined) => account.listPurchases(OPERATOR, { before, limit }),
        purchaseView,
      ),
      operator_acts: arrayChunks(
        async (before_id: string | undefined) => {
          const page = await audit.list({ subject: identity_id, before_id, limit });
          return accepted({ rows: page.entries, next: page.next_id });
        },
        ({ at_ms, act, reason, outcome }) => ({
          at: timestamp(at_ms),
          // Operators are people too: the holder learns what was done, but not which operator did it.
          by: "an operator",
          act,
          reason,
          outcome,
        }),
      ),
      jobs: arrayChunks(
        (before_id: string | undefined) => account.listJobs(OPERATOR, { before_id, limit }),
        jobView,
      ),
      ledger: arrayChunks(
        (before_line: number | undefined) => account.listEntries(OPERATOR, { before_line, limit }),
        entryView,
      ),
    }),
  );
}

/** The parts of the document that are bounded by other limits. */
function factsOf(person: Person | null, { account, apps, lots, ...held }: Holdings): object {
  const { created_at_ms, suspended_at_ms, ...known } = account;
  return {
    exported_at: timestamp(Date.now()),
    person: person === null ? null : personView(person),
    account: {
      ...known,
      created_at: timestamp(created_at_ms),
      suspended_at: timeOrNull(suspended_at_ms),
    },
    apps: apps.map(({ slug, starter_credits, granted_at_ms, created_at_ms: at_ms, access }) => ({
      slug,
      starter_credits,
      granted: granted_at_ms !== null,
      granted_at: timeOrNull(granted_at_ms),
      first_used_at: timestamp(at_ms),
      access,
    })),
    lots: lots.map(lotView),
    topup: held.topup === null ? null : { ...topUpView(held.topup), card: held.topup.card },
    top_ups: held.top_ups.map(({ created_at_ms: at_ms, ...it }) => ({
      ...it,
      created_at: timestamp(at_ms),
    })),
    personal_tokens: held.allowances.map(storedTokenView),
    authorizations: held.authorizations.map((authorization) => ({
      personal_token_id: authorization.allowance_id,
      scopes: authorization.scopes.split(" "),
      redirect_uri: authorization.redirect_uri,
      signed_in_at: timestamp(authorization.auth_time_ms),
      refreshed_at: timestamp(authorization.rotated_at_ms),
    })),
    third_party_tokens: held.upstream_tokens.map(({ expires_at_ms, updated_at_ms, ...token }) => ({
      ...token,
      expires_at: timeOrNull(expires_at_ms),
      updated_at: timestamp(updated_at_ms),
    })),
  };
}

function personView({ linked, created_at_ms, recovery_code_at_ms, ...person }: Person) {
  return {
    ...person,
    created_at: timestamp(created_at_ms),
    recovery_code_at: timeOrNull(recovery_code_at_ms),
    linked: linked.map(({ linked_at_ms, passkey, ...identity }) => ({
      ...identity,
      linked_at: timestamp(linked_at_ms),
      passkey: passkey && { name: passkey.name, last_used_at: timeOrNull(passkey.last_used_at_ms) },
    })),
  };
}

function storedTokenView(token: ListedAllowance) {
  const { current: _, ...view } = personalTokenView(token);
  const { session_id, revoked_at_ms } = token;
  return { ...view, approved_in_session: session_id, revoked_at: timeOrNull(revoked_at_ms) };
}

function sessionView({ created_at_ms, last_used_at_ms, ...session }: ListedSession) {
  return {
    ...session,
    created_at: timestamp(created_at_ms),
    last_used_at: timeOrNull(last_used_at_ms),
  };
}

function purchaseView({ created_at_ms, paid_minor, reversals, ...purchase }: PurchaseRecord) {
  return {
    ...purchase,
    amount_minor: paid_minor,
    refunds_and_disputes: reversals.map(({ source_id: id, amount_minor, state }) => ({
      id,
      amount_minor,
      state,
    })),
    created_at: timestamp(created_at_ms),
  };
}

/** A page of rows that are ordered by their ids. */
function pageOf<Row extends { readonly id: string }>(
  rows: readonly Row[],
  limit: number,
): Answer<Page<Row, string>> {
  return accepted({ rows, next: rows.length < limit ? null : (rows.at(-1)?.id ?? null) });
}

async function* documentChunks(facts: object, lists: Readonly<Record<string, Chunks>>): Chunks {
  yield JSON.stringify(facts, null, 2).slice(0, -2);
  for (const [name, chunks] of Object.entries(lists)) {
    yield `,\n  "${name}": [`;
    yield* chunks;
    yield "\n  ]";
  }
  yield "\n}\n";
}

/** The elements of a JSON array, read page by page. */
async function* arrayChunks<Row, Key>(
  read: (after: Key | undefined) => PromiseLike<Answer<Page<Row, Key>>>,
  view: (row: Row) => object,
): Chunks {
  let after: Key | undefined;
  for (let comma = ""; ;) {
    const page: Answer<Page<Row, Key>> = await read(after);
    if (!page.ok) throw new Error(`the account refused to list its data: ${page.refusal.code}`);
    const { rows, next } = page.value;
    if (rows.length > 0) {
      yield comma + rows.map((row) => `\n    ${JSON.stringify(view(row))}`).join(",");
      comma = ",";
    }
    if (next === null) return;
    after = next;
  }
}

/** A stream that reads the next chunk only when the client is ready for it. */
function streamOf(chunks: Chunks): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done === true) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await chunks.return();
    },
  });
}
