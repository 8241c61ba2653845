/**
 * The copy of `DIRECTORY` and its rebuild after a loss, in portions. A client repeats the call with each `next_cursor`, so an
 * interrupted run can continue. Everything may be repeated: a row that the directory has stays as it is.
 */
import * as z from "zod/mini";
import type { OnceAnswer } from "../account/contract.ts";
import type { Refusal } from "../domain/refusals.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import { timestamp } from "../domain/wire.ts";
import type { Acting, OperatorServices } from "./acting.ts";
import { performAction } from "./audited_action.ts";

const NO_ARCHIVE: Refusal = { code: "not_found", missing: "archive" };

/** People that one call restores. Each takes some calls of R2 and D1. */
const PEOPLE_RESTORED = 50;

/** Changes of people that one call copies. */
const PEOPLE_COPIED = 100;

const copyId = z
  .string("must be a string")
  .check(z.regex(/^\d{8}T\d{9}Z-[0-9a-f]{8}$/, "must be the id of a copy"));

export const copyBody = z.strictObject({ cursor: z.optional(copyId) });

export const rebuildBody = z.strictObject({
  copy: z.optional(copyId),
  cursor: z.optional(
    z.string("must be a string").check(z.maxLength(300, "must have at most 300 characters")),
  ),
});

interface CopiedPortion {
  readonly copy: string;
  readonly rows: number;
  readonly people: number;
  readonly next_cursor?: string;
}

/** Starts a copy at once, or continues it, and copies people that wait. */
export function copyDirectory(
  acting: Acting,
  { cursor }: z.output<typeof copyBody>,
  key: string | undefined,
): Promise<OnceAnswer<CopiedPortion>> {
  const action = { act: "directory.copy", subject: "directory", details: {}, key };
  return performAction(acting, action, async () => {
    const { archive, directory_copy, kept_people } = acting.services;
    if (archive === null) return refused(NO_ARCHIVE);
    const { kept } = await kept_people.keepSome(PEOPLE_COPIED);
    const { copy_id, rows, is_complete } =
      cursor === undefined
        ? await directory_copy.start(Date.now())
        : await directory_copy.continue(cursor);
    const value = { copy: copy_id, rows, people: kept };
    const more = is_complete ? {} : { next_cursor: copy_id };
    return accepted({ value: { ...value, ...more }, replayed: false });
  });
}

interface Decision {
  readonly why: string;
  /** An identity, a record, or a file of the archive. */
  readonly subject: string;
}

interface RebuiltPortion {
  /** The copy that the tables come from; null: the archive has none, so only people are restored. */
  readonly copy: { readonly id: string; readonly completed_at: string } | null;
  /** The table or the kind of people that the numbers are about. */
  readonly table: string;
  readonly restored: number;
  /** Rows that the directory had. */
  readonly known: number;
  readonly decide: readonly Decision[];
  readonly next_cursor?: string;
}

/** A step of the rebuild. Apps come first, so that they work soon, and the long audit log last. */
function stepsOf({ copied_tables }: OperatorServices["directory_copy"]): readonly string[] {
  const is_audit = (table: string): boolean => table.startsWith("audit");
  return [
    ...copied_tables.filter((table) => !is_audit(table)),
    "tombstones",
    "debts",
    "users",
    ...copied_tables.filter(is_audit),
  ];
}

const PEOPLE = { tombstones: "tombstone", debts: "debts", users: "user" } as const;

const isPeople = (step: string): step is keyof typeof PEOPLE => Object.hasOwn(PEOPLE, step);

/** Restores a portion of the directory. */
export function rebuildDirectory(
  acting: Acting,
  body: z.output<typeof rebuildBody>,
  key: string | undefined,
): Promise<OnceAnswer<RebuiltPortion>> {
  const action = { act: "directory.rebuild", subject: "directory", details: body, key };
  return performAction(acting, action, async () => {
    const portion = await rebuildPortion(acting.services, body);
    return portion.ok ? accepted({ value: portion.value, replayed: false }) : portion;
  });
}

async function rebuildPortion(
  { archive, directory_copy, kept_people }: OperatorServices,
  { copy: wanted, cursor = "" }: z.output<typeof rebuildBody>,
): Promise<Result<RebuiltPortion, Refusal>> {
  if (archive === null) return refused(NO_ARCHIVE);
  const [copy_id = "", from = "", last = ""] = cursor.split("|");
  const copy = await directory_copy.find(copy_id === "" ? wanted : copy_id);
  if (copy === null && (wanted !== undefined || copy_id !== "")) {
    return refused({ code: "not_found" });
  }
  const steps = stepsOf(directory_copy).filter((step) => copy !== null || isPeople(step));
  const step = from === "" ? (steps[0] ?? "") : from;
  if (!steps.includes(step)) return refused({ code: "not_found" });
  const after = last === "" ? null : last;
  const done =
    isPeople(step) || copy === null
      ? await restorePeople(kept_people, step, after)
      : await directory_copy.restorePage(copy, step, after);
  const following = done.next === null ? steps[steps.indexOf(step) + 1] : step;
  if (following === undefined) await kept_people.markWhole();
  return accepted({
    copy:
      copy === null ? null : { id: copy.copy_id, completed_at: timestamp(copy.completed_at_ms) },
    table: step,
    restored: done.inserted,
    known: done.known,
    decide: done.decide,
    ...(following === undefined
      ? {}
      : { next_cursor: `${copy?.copy_id ?? ""}|${following}|${done.next ?? ""}` }),
  });
}

async function restorePeople(
  kept_people: OperatorServices["kept_people"],
  step: string,
  after: string | null,
) {
  const kind = isPeople(step) ? PEOPLE[step] : "user";
  const { restored, known, decide, next } = await kept_people.restorePage(
    kind,
    after,
    PEOPLE_RESTORED,
  );
  const named = decide.map(({ identity_id, why }) => ({
    why: `person_${why}`,
    subject: identity_id,
  }));
  return { inserted: restored, known, decide: named, next };
}
