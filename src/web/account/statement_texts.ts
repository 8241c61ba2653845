/** The texts of a statement's rows and entries. Outside of a page they are English: the CSV file is for programs. */
import type { CountedEntry, JobRow, StatementRow } from "../../account/contract.ts";
import { t } from "../language/text.tsx";
import {
  credits,
  DEBT_LOWERED,
  DISPUTE_WON,
  ENTRY_NAMES,
  JOB_STATUS_NAMES,
  number,
  signed,
} from "../layout/labels.ts";
import { titleOf } from "./job_metadata.ts";
import { failureText, refundName } from "./job_rows.tsx";

interface RowTexts {
  readonly title: string;
  /** The state, the reason and the app; "" if there is nothing to say. */
  readonly about: string;
  readonly amount: string;
  /** `held`: the amount is only held. */
  readonly tone: "in" | "out" | "held" | "none";
}

/** The texts of a row. `app_name`: null for a row without an app. */
export function rowTexts(
  { change, job, entries }: StatementRow,
  app_name: string | null,
): RowTexts {
  const [newest] = entries;
  if (newest === undefined) throw new Error("a row has an entry");
  const join = (...parts: (string | null)[]): string => parts.filter(Boolean).join(" · ");
  if (job === null) {
    const amount = change === 0 ? "" : signed(change);
    const title = entryName(newest);
    return { title, about: join(app_name, newest.note), amount, tone: toneOf(change) };
  }
  const began_earlier = entries.at(-1)?.previous_line !== null;
  const earlier = began_earlier ? t("began in an earlier month") : null;
  const title = titleOf(job);
  if (entries.every(isHold)) {
    const is_running = job.status === "started";
    const added = 0 - entries.reduce((sum, { amount }) => sum + amount, 0);
    const held = is_running ? job.reserved : added;
    const state = is_running ? t("Running") : t("Ended in a later month");
    // A reserve that was raised or lowered after the month in which the job began.
    const text =
      began_earlier && !is_running
        ? held < 0
          ? "{count} no longer held"
          : "{count} more held"
        : "{count} held";
    const amount = t(text, { count: number(Math.abs(held)) });
    return { title, about: join(state, app_name), amount, tone: "held" };
  }
  return {
    title,
    about: join(outcomeOf(change, job, entries), earlier, app_name),
    amount: signed(change),
    tone: toneOf(change),
  };
}

/** Whether an entry only changed what a running job holds. */
const isHold = ({ kind, ends_job }: CountedEntry): boolean =>
  kind === "reserve" || (kind === "refund" && !ends_job);

const toneOf = (change: number): RowTexts["tone"] =>
  change === 0 ? "none" : change > 0 ? "in" : "out";

function outcomeOf(change: number, job: JobRow, entries: readonly CountedEntry[]): string {
  const refund = refundName(job);
  const returned = entries.filter((entry) => entry.change > 0);
  if (returned.length > 0) {
    const count = number(returned.reduce((sum, entry) => sum + entry.change, 0));
    return refund === null
      ? t("{state}, {count} given back", { state: t(JOB_STATUS_NAMES[job.status]), count })
      : t("{refund}: {count} of {cost}", { refund, count, cost: number(job.actual_cost) });
  }
  const state =
    job.status === "failed"
      ? `${change === 0 ? t("Failed, not charged") : t("Failed")}: ${failureText(job) ?? ""}`
      : t(JOB_STATUS_NAMES[job.status]);
  return refund === null ? state : `${t("{refund} in a later month", { refund })} · ${state}`;
}

/** The name of an entry without its job. */
export function entryName({ kind, amount }: Pick<CountedEntry, "kind" | "amount">): string {
  if (kind === "debt" && amount > 0) return t(DEBT_LOWERED);
  return t(kind === "purchase_refund" && amount > 0 ? DISPUTE_WON : ENTRY_NAMES[kind]);
}

/** The effect of one entry. */
export function stepText(entry: CountedEntry): string {
  const { kind, amount, change, note, previous_line, job_id } = entry;
  if (job_id === null) {
    const sum = change === 0 ? "" : ` ${signed(change)}`;
    return note === null ? `${entryName(entry)}${sum}` : `${entryName(entry)}${sum}: ${note}`;
  }
  if (kind === "job_refund") {
    const refunded = t("{count} refunded by the operator", { count: number(change) });
    return note === null ? refunded : `${refunded}: ${note}`;
  }
  if (kind === "reserve" && previous_line !== null) {
    return t("{count} more held", { count: number(0 - amount) });
  }
  if (kind === "reserve") return t("{count} held", { count: number(0 - amount) });
  if (kind === "refund") return t("{count} no longer held", { count: number(amount) });
  if (change > 0) return t("{count} given back", { count: number(change) });
  const cost = credits(0 - change);
  if (amount === change || amount === 0) return t("{cost} charged", { cost });
  return amount > 0
    ? t("{cost} charged, {count} no longer held", { cost, count: number(amount) })
    : t("{cost} charged, {count} more than was held", { cost, count: number(0 - amount) });
}
