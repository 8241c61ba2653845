/** The fields of a form that limit what something may spend: up to four caps, each for another period. */
import { COST_MAX_CREDITS } from "../../domain/limits.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import { CAP_PERIODS, type CapPeriod, type SpendingCap } from "../../domain/spending_cap.ts";
import { credits as creditsText, number } from "../layout/labels.ts";
import { Choice, describedBy, FieldProblem } from "./fields.tsx";

/** Caps that one form, and one allowance, can have. */
const CAPS_MAX = 4;

/** One cap as typed and chosen. */
export interface CapFields {
  /** Empty: no cap. */
  readonly credits: string;
  /** Null: nothing known was chosen. */
  readonly period: CapPeriod | null;
}

export const PERIOD_NAMES: Readonly<Record<CapPeriod, string>> = {
  day: "a day (UTC)",
  week: "a week (from Monday)",
  month: "a month",
  total: "in total",
};

/** The fields that these caps fill. */
export function fieldsOfCaps(caps: readonly SpendingCap[]): readonly CapFields[] {
  return caps.map(({ credits, period }) => ({ credits: String(credits), period }));
}

export function readCapFields(form: FormData): readonly CapFields[] {
  const [credits, periods] = [form.getAll("credits"), form.getAll("period")];
  return credits.slice(0, CAPS_MAX).map((typed, index) => ({
    credits: typeof typed === "string" ? typed.trim() : "",
    period: CAP_PERIODS.find((period) => period === periods[index]) ?? null,
  }));
}

/** The caps that the fields mean, or what is wrong with them. */
export function capsOfFields(fields: readonly CapFields[]): Result<readonly SpendingCap[], string> {
  const caps: SpendingCap[] = [];
  for (const { credits: typed, period } of fields.filter(({ credits }) => credits !== "")) {
    const credits = /^\d+$/.test(typed) ? Number(typed) : Number.NaN;
    if (!(credits <= COST_MAX_CREDITS)) return refused(notCredits());
    if (period === null) return refused("Choose a period for each limit.");
    if (caps.some((cap) => cap.period === period)) {
      return refused(`There are two limits ${PERIOD_NAMES[period]}. Keep one of them.`);
    }
    caps.push({ credits, period });
  }
  return accepted(caps);
}

/** Not a constant: the first formatted number takes more processor time than all other imports of this page. */
const notCredits = (): string =>
  `Enter a whole number of credits from 0 to ${number(COST_MAX_CREDITS)}.`;

/** The problem of a form without a limit: the person confirms it. */
export const LIMIT_MISSING =
  "You set no limit. Enter one, or confirm below that it can spend everything that you have.";

interface CapChoiceProps {
  readonly caps: readonly CapFields[];
  /** Whether the person confirmed that there is no limit. */
  readonly no_limit: boolean;
  readonly problem: string | undefined;
  /** The available credits, which are shown next to the limit; undefined: they are not shown. */
  readonly balance?: number;
  /** The program's wish, if it is more than the form suggests. */
  readonly wished?: readonly SpendingCap[];
}

/** The first cap is open, and the others are folded until one is used. */
export function CapChoice({ caps, no_limit, problem, balance, wished = [] }: CapChoiceProps) {
  const [first = EMPTY, ...others] = caps;
  const empty = freePeriods(caps)
    .slice(0, CAPS_MAX - 1 - others.length)
    .map((period) => ({ credits: "", period }));
  return (
    <fieldset>
      <legend>How much it can spend</legend>
      <FieldProblem id="credits_problem" problem={problem} />
      <CapRow fields={first} index={0} problem={problem} />
      <p class="hint" id="credits_hint">
        {balance === undefined ? "" : `You have ${creditsText(balance)} now. `}
        {wished.length === 0 ? "" : `It asks for ${wished.map(wishSentence).join(" and ")}. `}
        Without a limit, it can spend everything that you have, and a job can cost more than its
        estimate.
      </p>
      {caps.every(({ credits }) => credits === "") && (no_limit || problem !== undefined) ? (
        <Choice type="checkbox" name="no_limit" value="yes" checked={no_limit}>
          No limit
        </Choice>
      ) : null}
      <details open={others.some(({ credits }) => credits !== "")}>
        <summary>More limits</summary>
        {[...others, ...empty].map((fields, index) => (
          <CapRow fields={fields} index={index + 1} problem={problem} />
        ))}
      </details>
    </fieldset>
  );
}

function wishSentence({ credits, period }: SpendingCap): string {
  return `${number(credits)} credits ${PERIOD_NAMES[period]}`;
}

const EMPTY: CapFields = { credits: "", period: "total" };

/** Periods that no cap has, since two caps of one period are a problem. */
function freePeriods(caps: readonly CapFields[]): readonly CapPeriod[] {
  const [first = EMPTY, ...others] = caps;
  return CAP_PERIODS.filter((period) => [first, ...others].every((cap) => cap.period !== period));
}

function CapRow(props: { fields: CapFields; index: number; problem: string | undefined }) {
  const { fields, index, problem } = props;
  const suffix = index === 0 ? "" : `_${index + 1}`;
  const of_limit = index === 0 ? "" : ` of limit ${index + 1}`;
  return (
    <div class="cap">
      <label class="unseen" for={`credits${suffix}`}>
        Largest number of credits{of_limit}
      </label>
      {/* Not a number field: browsers drop text that is not a number, and the person's limit with it. */}
      <input
        id={`credits${suffix}`}
        name="credits"
        type="text"
        inputmode="numeric"
        autocomplete="off"
        placeholder="No limit"
        value={fields.credits}
        {...describedBy("credits_problem", problem, "credits_hint")}
      />
      <span aria-hidden="true">credits</span>
      <label class="unseen" for={`period${suffix}`}>
        Period{of_limit}
      </label>
      <select id={`period${suffix}`} name="period">
        {CAP_PERIODS.map((period) => (
          <option value={period} selected={period === (fields.period ?? "total")}>
            {PERIOD_NAMES[period]}
          </option>
        ))}
      </select>
    </div>
  );
}
