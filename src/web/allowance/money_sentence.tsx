/**
 * The first sentence of every page on which a person gives an allowance: how much it can spend, in which apps, and until
 * when. `allowance.js` keeps it true while the person changes the fields.
 */
import { t, type PlainText } from "../language/text.tsx";
import { counted, credits as creditsText } from "../layout/labels.ts";
import { timeText } from "../layout/time.tsx";
import type { SpendingCap } from "../../domain/spending_cap.ts";
import type { AllowanceAccess } from "../../domain/allowance.ts";
import { fieldsOfCaps, joined, PERIOD_NAMES, type CapFields } from "./cap_choice.tsx";

/** `asked`: the lifetime that the client asks for, to the second. */
export type Lifetime = number | "asked";

export interface Terms {
  readonly access: AllowanceAccess | null;
  readonly caps: readonly CapFields[];
  /** Such as "in Sketch only"; null: it has no access to any. */
  readonly where: string | null;
  /** Such as "until 23 December"; null: nothing valid was chosen. */
  readonly end: string | null;
}

/** "in Sketch only", "in all apps". */
export function appsText(app_names: readonly string[] | null): string {
  return app_names === null
    ? t("in all apps")
    : t("in {apps} only", { apps: app_names.join(", ") });
}

const SPENDS_NOTHING = {
  read: "It can read, and spend nothing",
  none: "It can spend nothing",
} as const satisfies Readonly<Record<string, PlainText>>;

function spendingText({ access, caps }: Pick<Terms, "access" | "caps">): string {
  if (access === "read" || access === "none") return t(SPENDS_NOTHING[access]);
  const limits = caps
    .filter(({ credits }) => credits !== "")
    .map(({ credits, period }) => `${creditsOf(credits)} ${t(PERIOD_NAMES[period ?? "total"])}`);
  return limits.length === 0
    ? t("It can spend all your credits")
    : t("It can spend at most {limits}", { limits: joined(limits) });
}

function isUnlimited({ access, caps }: Terms): boolean {
  return access === "write" && caps.every(({ credits }) => credits === "");
}

/** The typed text, which may not be a number. */
function creditsOf(typed: string): string {
  return /^\d+$/.test(typed) ? creditsText(Number(typed)) : `${typed} ${t("credits")}`;
}

export function MoneySentence(terms: Terms) {
  const { where, end } = terms;
  return (
    <p class="money">
      <strong data-shown="spending" class={isUnlimited(terms) ? "alarming" : undefined}>
        {spendingText(terms)}
      </strong>
      {where === null ? null : (
        <>
          , <span data-shown="apps">{where}</span>
        </>
      )}
      {end === null ? null : (
        <>
          , <span data-shown="end">{end}</span>
        </>
      )}
      .
    </p>
  );
}

/** The limits that an allowance has, as one sentence. */
export function termsText(given: {
  readonly access: AllowanceAccess;
  readonly caps: readonly SpendingCap[];
  readonly app_names: readonly string[] | null;
  readonly end: string;
}): string {
  const { access, app_names, end } = given;
  const where = access === "none" ? [] : [appsText(app_names)];
  const caps = fieldsOfCaps(given.caps);
  return `${[spendingText({ ...given, caps }), ...where, end].join(", ")}.`;
}

const DAY_SECONDS = 24 * 60 * 60;

/** An end within this time is a duration, which is exact; a later one is a date. */
const DURATION_MAX_SECONDS = 2 * DAY_SECONDS;

/** "until 23 December", with the year if it is another one, or "for 2 hours". */
export function endText(seconds: number): string {
  if (seconds <= DURATION_MAX_SECONDS) {
    return t("for {duration}", { duration: durationText(seconds) });
  }
  const now_ms = Date.now();
  return untilText(now_ms + seconds * 1000, now_ms);
}

/** "until 23 December". */
export function untilText(at_ms: number, now_ms: number): string {
  return t("until {date}", { date: dateText(at_ms, now_ms) });
}

/** "23 December", with the year if it is not the present one. */
function dateText(at_ms: number, now_ms: number): string {
  const is_this_year = new Date(at_ms).getUTCFullYear() === new Date(now_ms).getUTCFullYear();
  return timeText(at_ms, is_this_year ? "long_date" : "long_day");
}

/** A time in its largest whole unit. */
export function durationText(seconds: number): string {
  if (seconds % DAY_SECONDS === 0) return counted(seconds / DAY_SECONDS, "day", "days");
  if (seconds % 3_600 === 0) return counted(seconds / 3_600, "hour", "hours");
  if (seconds % 60 === 0) return counted(seconds / 60, "minute", "minutes");
  return counted(seconds, "second", "seconds");
}

/** The seconds of a lifetime. */
export function lifetimeSeconds(days: Lifetime, asked_seconds: number | null): number {
  return days === "asked" ? (asked_seconds ?? 0) : days * DAY_SECONDS;
}
