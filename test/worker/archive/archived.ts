/** Reads the archive of a test as a stranger would: the files of the bucket, and nothing of the service. */
import { env } from "cloudflare:workers";
import { vi, expect } from "vitest";
import { gunzip, sha256 } from "../../../src/archive/bytes.ts";
import { proveArchive, type StoredSegment } from "../../../src/domain/archive_chain.ts";
import {
  accountFolder,
  parseSegment,
  type ArchiveHead,
  type SegmentRow,
} from "../../../src/domain/archive_segment.ts";
import { fireAlarm, query } from "../support/account_object.ts";

export async function accountId(identity_id: string): Promise<string> {
  const [account] = await query<{ id: string }>(identity_id, "select id from account");
  return account?.id ?? expect.fail("no account");
}

export interface ArchiveState {
  readonly line: number;
  readonly sha256: string | null;
  readonly pending_line: number | null;
  readonly failing_since_ms: number | null;
}

/** The account's own note of its archive. */
export async function archiveState(identity_id: string): Promise<ArchiveState | undefined> {
  return (await query<ArchiveState>(identity_id, "select * from archive"))[0];
}

/** The names of the account's segments. */
export async function segmentNames(account_id: string): Promise<string[]> {
  const folder = accountFolder(account_id);
  const { objects } = await env.ARCHIVE.list({ prefix: folder });
  return objects.map(({ key }) => key.slice(folder.length));
}

/** The account's files, in the order of their names. */
export async function storedSegments(account_id: string): Promise<StoredSegment[]> {
  const names = await segmentNames(account_id);
  return Promise.all(
    names.map(async (name) => {
      const stored = await env.ARCHIVE.get(accountFolder(account_id) + name);
      const bytes = new Uint8Array((await stored?.arrayBuffer()) ?? []);
      return { name, sha256: await sha256(bytes), text: await gunzip(bytes).catch(() => null) };
    }),
  );
}

/** The rows of a table in the archive, in the order of the segments. */
export function archivedRows(
  files: readonly StoredSegment[],
  table: string,
): readonly SegmentRow["row"][] {
  return files.flatMap(({ text }) => {
    const parsed = parseSegment(text ?? "");
    if (!parsed.ok) throw new Error(parsed.refusal);
    return parsed.value.rows.filter((it) => it.table === table).map(({ row }) => row);
  });
}

/** Has the account write everything, and waits until its own note says so. */
export async function archiveNow(identity_id: string): Promise<ArchiveHead> {
  const account = env.ACCOUNT.getByName(identity_id);
  return vi.waitFor(async () => {
    // An attempt that was under way may fail after the request, and then waits.
    await account.requestArchive();
    await fireAlarm(identity_id);
    const read = await account.readArchived();
    const head = read?.head ?? null;
    if (head === null || head.line !== read?.line) throw new Error("not archived yet");
    return head;
  }, 20_000);
}

/** The proof of the account's archive, which ends with `head`. */
export async function prove(account_id: string, head: ArchiveHead | null, until_ms = Infinity) {
  const files = await storedSegments(account_id);
  return proveArchive({ account_id, files: () => files, head, until_ms });
}
