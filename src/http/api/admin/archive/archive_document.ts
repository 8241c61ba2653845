/** The archive in the OpenAPI document. */
import * as admin from "../admin_schemas.ts";
import { ACCOUNT, ENTRY } from "../../../openapi/examples.ts";
import { describe, done } from "../../../openapi/operation.ts";
import * as endpoints from "./archive.ts";

const HEAD = {
  account_id: ACCOUNT.id,
  identity_id: ACCOUNT.identity_id,
  line: ENTRY.line,
  head: {
    line: ENTRY.line,
    sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  },
};
const NAME = "000000000001-000000001000.jsonl.gz";
const COPY = "20261121T000000000Z-0d7f3a51";
const COMPARED = {
  checked: 40,
  differences: [
    {
      identity_id: ACCOUNT.identity_id,
      where: "account",
      what: "balance",
      expected: 100,
      found: 90,
    },
  ],
  failed: [],
};
const THEN = {
  line: 12,
  at: "2026-11-20T23:59:12.000Z",
  credits: 100,
  held: 0,
  started_jobs: 0,
};
const PLAN = {
  now: { ...THEN, line: 14, at: "2026-11-21T10:04:00.000Z", credits: 40 },
  target: THEN,
  undone_entries: 2,
  kept_credits: 0,
  decisions: [
    {
      what: "credits_undone",
      line: 14,
      job_id: null,
      amount: -60,
      note: "Correction",
    },
  ],
  decisions_total: 1,
};
const RECOVERY =
  "To a time of the last 30 days, by the platform's point-in-time recovery. `decisions` lists what a person must decide. Other times are 409 `recovery_refused`.";
const NO_ARCHIVE = "Without the bucket `ARCHIVE`, the response is 404.";

export const archive = describe("Operators", endpoints, {
  listArchiveHeads: {
    summary: "List the newest archive segment of every account",
    description: `Segments form a chain, and the head ends it (docs/keep.md). The data comes from the read model. ${NO_ARCHIVE}`,
    success: {
      description: "A page of accounts.",
      schema: admin.archive_heads,
      example: { heads: [HEAD], next_cursor: ACCOUNT.id },
    },
  },
  archiveAccounts: {
    summary: "Write to the archive at once, a page of accounts at a time",
    description: `The accounts of one page of people write what the archive lacks, within seconds. Repeat with \`cursor\` set to \`next_cursor\` until the response has no \`next_cursor\`. ${NO_ARCHIVE}`,
    example: {},
    success: {
      description: "The result for the page.",
      schema: admin.archived_page,
      example: { requested: 40, failed: [], next_cursor: ACCOUNT.identity_id },
    },
  },
  readAccountArchive: {
    summary: "List the archive segments of an account",
    description: `The head comes from the account itself. ${NO_ARCHIVE}`,
    success: {
      description: "A page of segments, in the order of their entries.",
      schema: admin.account_archive,
      example: { ...HEAD, segments: [NAME] },
    },
  },
  readArchiveSegment: {
    summary: "Read one archive segment",
    description: `The stored bytes, which are gzip, in base64url. ${NO_ARCHIVE}`,
    success: {
      description: "The segment.",
      schema: admin.archive_segment,
      example: { name: NAME, content: "H4sIAAAAAAAAA6tWSssvyk0sUbIyrAUA9r8s5wwAAAA=" },
    },
  },
  copyDirectory: {
    summary: "Copy the directory to the archive at once, a portion at a time",
    description: `The schedule makes the same copy each day: of apps, their keys, OAuth clients, resources and webhooks, plans and the audit log. People are copied with each of their changes; those that wait are copied too. Repeat with \`cursor\` set to \`next_cursor\` until the response has no \`next_cursor\`. ${NO_ARCHIVE}`,
    example: {},
    success: {
      description: "The result so far.",
      schema: admin.copied_directory,
      example: { copy: COPY, rows: 1200, people: 0 },
    },
  },
  rebuildDirectory: {
    summary: "Rebuild a lost directory from the archive, a portion at a time",
    description: `Restores what the directory lacks, from the newest complete copy or \`copy\`, and people (docs/keep.md). A row that the directory has stays as it is, so a repeated rebuild is safe. \`decide\` lists what a person must look at. Repeat with \`cursor\` set to \`next_cursor\` until the response has no \`next_cursor\`. ${NO_ARCHIVE}`,
    example: {},
    success: {
      description: "The result for the portion.",
      schema: admin.rebuilt_directory,
      example: {
        copy: { id: COPY, completed_at: "2026-11-21T00:00:07.000Z" },
        table: "apps",
        restored: 12,
        known: 1,
        decide: [{ why: "newer_record", subject: "apps sketch" }],
        next_cursor: `${COPY}|app_icons|`,
      },
    },
  },
  listDifferences: {
    summary: "Compare accounts with their copies, a page at a time",
    description:
      "Compares the accounts of one page of people with their own sums, their newest archive segment and the read model, and their newest purchases with the payment service. The first page also compares the daily totals with all balances. Nothing is repaired. Repeat with `cursor` set to `next_cursor` until the response has no `next_cursor`.",
    success: {
      description: "The result for the page.",
      schema: admin.compared_page,
      example: { ...COMPARED, next_cursor: ACCOUNT.identity_id },
    },
  },
  listAccountDifferences: {
    summary: "Compare an account with its copies",
    description: "As for all accounts. Nothing is repaired.",
    success: {
      description: "The result.",
      schema: admin.compared_page,
      example: { ...COMPARED, checked: 1 },
    },
  },
  planRecovery: {
    summary: "Show what a restore of an account would undo",
    description: `Changes nothing. ${RECOVERY} ${NO_ARCHIVE}`,
    success: { description: "The difference.", schema: admin.recovery_plan, example: PLAN },
  },
  recoverAccount: {
    summary: "Restore an account to an earlier time",
    description: `${RECOVERY} The ledger keeps the undone entries, and an entry of the kind \`recovery\` takes the balance back. Access stays as it is now, and payments after the time are booked again (docs/keep.md). ${NO_ARCHIVE}`,
    example: { to: "2026-11-21T00:00:00Z", reason: "The release of 10:00 took credits twice." },
    success: {
      description: "The account is restored.",
      schema: admin.recovered_account,
      example: { ...PLAN, now: THEN, lost: [] },
    },
  },
  planLostRestore: {
    summary: "Show what is known of an account whose storage was lost",
    description: `Changes nothing. The read model and the archive know the account. ${NO_ARCHIVE}`,
    success: {
      description: "The account.",
      schema: admin.lost_account,
      example: {
        account_id: ACCOUNT.id,
        head: HEAD.head,
        read_model: { line: 12, credits: 100, held: 0, at: THEN.at },
        refusal: null,
      },
    },
  },
  restoreLost: {
    summary: "Restore an account whose storage was lost, from the archive",
    description: `Only if the account was not used since (409 \`recovery_refused\`). Until the last segment is read, other requests for the account get 503 \`account_restoring\`. Repeat a request that broke off: it continues (docs/keep.md). ${NO_ARCHIVE}`,
    example: { reason: "The platform lost the storage." },
    success: {
      description: "The account is restored.",
      schema: admin.restored_account,
      example: { now: THEN, lost_entries: 2 },
    },
  },
  archiveAccount: {
    summary: "Write an account to the archive at once",
    description: `The account writes what the archive lacks, within seconds. ${NO_ARCHIVE}`,
    example: {},
    success: done,
  },
});
