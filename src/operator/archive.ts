/** Operators' reads of the archive, and their requests to write to it. */
import * as z from "zod/mini";
import type { ArchivedAccount, OnceAnswer } from "../account/contract.ts";
import { accountFolder, rangeOfName, type ArchiveHead } from "../domain/archive_segment.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import { pageLimit, queryText, wellFormed } from "../fields.ts";
import type { AccountAction } from "./account_actions.ts";
import type { Acting, OperatorServices } from "./acting.ts";
import { performAction, performActionOnce } from "./audited_action.ts";
import { REBUILD_PAGE_PEOPLE } from "./rebuild_accounts.ts";

/** Names of segments that one response lists. */
const SEGMENTS_LISTED = 1_000;

const NO_ARCHIVE: Refusal = { code: "not_found", missing: "archive" };

export const headsQuery = z.object({
  limit: pageLimit,
  cursor: z.optional(queryText.check(z.maxLength(64, "must be a next_cursor of this list"))),
});

export const segmentsQuery = z.object({
  cursor: z.optional(
    queryText.check(
      z.refine((name) => rangeOfName(name) !== null, "must be a next_cursor of this list"),
    ),
  ),
});

export const archiveAllBody = z.strictObject({
  cursor: z.optional(
    z
      .string("must be a string")
      .check(z.maxLength(254, "must have at most 254 characters"), wellFormed),
  ),
});

interface ListedHead {
  readonly account_id: string;
  readonly identity_id: string;
  /** The newest entry that the read model has. */
  readonly line: number;
  readonly head: ArchiveHead | null;
}

/** Accounts with their newest segments, from the read model, in the order of their ids. */
export async function listHeads(
  { archive, read_model }: OperatorServices,
  { limit, cursor = "" }: z.output<typeof headsQuery>,
): Promise<Result<{ heads: readonly ListedHead[]; next_cursor?: string }, Refusal>> {
  if (archive === null) return refused(NO_ARCHIVE);
  const found = await read_model.listArchiveHeads(cursor, limit + 1);
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1)?.id : undefined;
  return accepted({
    heads: page.map(({ id: account_id, identity_id, line, head }) => ({
      account_id,
      identity_id,
      line,
      head: head === null ? null : { line: head.line, sha256: head.sha256 },
    })),
    ...(last === undefined ? {} : { next_cursor: last }),
  });
}

interface ListedArchive extends ListedHead {
  /** Names of its segments, in the order of their entries. */
  readonly segments: readonly string[];
  readonly next_cursor?: string;
}

/** An account's segments. The head is the account's own, which is the newest. */
export async function readArchive(
  services: OperatorServices,
  identity_id: string,
  { cursor = null }: { readonly cursor?: string | null | undefined },
): Promise<Result<ListedArchive, Refusal>> {
  const { archive } = services;
  if (archive === null) return refused(NO_ARCHIVE);
  const archived = await archivedOf(services, identity_id);
  if (archived === null) return refused({ code: "account_unknown" });
  const { account_id, line, head } = archived;
  const { names, next } = await archive.list(accountFolder(account_id), cursor, SEGMENTS_LISTED);
  const of_account = { account_id, identity_id, line, head, segments: names };
  return accepted({ ...of_account, ...(next === null ? {} : { next_cursor: next }) });
}

/** What the archive has of the account, or of one whose storage was lost, as the read model knows it. */
async function archivedOf(
  { accounts, read_model }: OperatorServices,
  identity_id: string,
): Promise<ArchivedAccount | null> {
  const own = await accounts(identity_id).readArchived();
  if ((own?.head ?? null) !== null) return own;
  const lost = await read_model.findArchived(identity_id);
  if (lost === null) return own;
  return { account_id: lost.account.id, line: lost.account.line, head: lost.head };
}

/** The stored bytes of a segment. */
export async function readSegment(
  services: OperatorServices,
  identity_id: string,
  name: string,
): Promise<Result<Uint8Array, Refusal>> {
  const { archive } = services;
  if (archive === null) return refused(NO_ARCHIVE);
  const archived = await archivedOf(services, identity_id);
  if (archived === null) return refused({ code: "account_unknown" });
  // A name of another form could lead to another account's folder.
  const is_segment = rangeOfName(name) !== null;
  const key = accountFolder(archived.account_id) + name;
  const bytes = is_segment ? await archive.read(key) : null;
  return bytes === null ? refused({ code: "not_found" }) : accepted(bytes);
}

/** Has the account write everything to the archive, within seconds. */
export const archiveAccount: AccountAction = (acting, identity_id, request) => {
  const action = { act: "account.archive", subject: identity_id, details: {}, ...request };
  return performActionOnce(acting, action, async () => {
    if (acting.services.archive === null) return refused(NO_ARCHIVE);
    return accepted(await acting.services.accounts(identity_id).requestArchive());
  });
};

interface RequestedPage {
  readonly requested: number;
  readonly failed: readonly string[];
  readonly next_cursor?: string;
}

/** The same for the accounts of one page of people. */
export function archiveAccounts(
  acting: Acting,
  body: z.output<typeof archiveAllBody>,
  key: string | undefined,
): Promise<OnceAnswer<RequestedPage>> {
  const action = { act: "accounts.archive", subject: "all", details: body, key };
  // A repeated key requests the page again, which is safe.
  return performAction(acting, action, async () => {
    if (acting.services.archive === null) return refused(NO_ARCHIVE);
    const value = await requestPage(acting.services, body.cursor);
    return accepted({ value, replayed: false });
  });
}

async function requestPage(
  { accounts, identity }: OperatorServices,
  cursor = "",
): Promise<RequestedPage> {
  const found = await identity.listIdentities(cursor, REBUILD_PAGE_PEOPLE + 1);
  const people = found.slice(0, REBUILD_PAGE_PEOPLE);
  const outcomes = await Promise.allSettled(
    people.map((identity_id) => accounts(identity_id).requestArchive()),
  );
  const last = found.length > people.length ? people.at(-1) : undefined;
  return {
    requested: people.length,
    failed: people.filter((_, at) => outcomes[at]?.status === "rejected"),
    ...(last === undefined ? {} : { next_cursor: last }),
  };
}
