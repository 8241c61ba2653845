/** `GET /account/data.json`: everything that is stored about the signed-in person, as a download. */
import type { Answer, Page } from "../../account/contract.ts";
import { PAGE_MAX_ROWS } from "../../domain/limits.ts";
import { callerOf, factory } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { entryView, jobView, timestamp } from "../../http/views.ts";

/** Streamed one page of rows at a time, so that memory does not limit its size. */
export const downloadData = factory.createHandlers(async (context) => {
  const { identity, accounts } = context.get("services");
  const { identity_id } = context.get("session");
  const account = accounts(identity_id);
  const caller = callerOf(context);
  const [person, wallet, tokens, sessions] = await Promise.all([
    identity.readPerson(identity_id),
    account.wallet(caller, { app: null }),
    account.listPersonalTokens(caller),
    identity.listSessions(identity_id),
  ]);
  if (!wallet.ok) return refuseWithPage(context, wallet.refusal);
  if (!tokens.ok) return refuseWithPage(context, tokens.refusal);
  const head = {
    exported_at: timestamp(Date.now()),
    person,
    account: wallet.value.account,
    apps: wallet.value.apps,
    personal_tokens: tokens.value,
    sessions,
  };
  const limit = PAGE_MAX_ROWS;
  const jobs = arrayChunks(
    (before_id: string | undefined) => account.listJobs(caller, { before_id, limit }),
    jobView,
  );
  const entries = arrayChunks(
    (before_line: number | undefined) => account.listEntries(caller, { before_line, limit }),
    entryView,
  );
  context.header("Content-Type", "application/json; charset=utf-8");
  context.header("Content-Disposition", `attachment; filename="my-data.json"`);
  return context.body(streamOf(documentChunks(head, jobs, entries)));
});

type Chunks = AsyncGenerator<string, void, undefined>;

/** The document in chunks. */
async function* documentChunks(head: object, jobs: Chunks, entries: Chunks): Chunks {
  yield `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "jobs": [`;
  yield* jobs;
  yield `\n  ],\n  "ledger": [`;
  yield* entries;
  yield "\n  ]\n}\n";
}

/** The elements of a JSON array, read page by page. */
async function* arrayChunks<Row, Key>(
  read: (before: Key | undefined) => Promise<Answer<Page<Row, Key>>>,
  view: (row: Row) => object,
): Chunks {
  let before: Key | undefined;
  for (let comma = ""; ;) {
    const page: Answer<Page<Row, Key>> = await read(before);
    if (!page.ok) throw new Error(`the account refused to list its own data: ${page.refusal.code}`);
    const { rows, next } = page.value;
    if (rows.length > 0) {
      yield comma + rows.map((row) => `\n    ${JSON.stringify(view(row))}`).join(",");
      comma = ",";
    }
    if (next === null) return;
    before = next;
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
