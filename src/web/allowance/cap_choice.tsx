/** The fields of a form that limit what something may spend: up to four caps, each for another period. */
import { COST_MAX_CREDITS } from "../../domain/limits.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import { CAP_PERIODS, type CapPeriod, type SpendingCap } from "../../domain/spending_cap.ts";
import { message, t, type PlainText, type Said } from "../language/text.tsx";
import { credits as creditsText, number } from "../layout/labels.ts";
import { Choice, describedBy, FieldProblem, problemText } from "./fields.tsx";

/** Caps that one form, and one allowance, can have. */
const CAPS_MAX = 4;

/** One cap as typed and chosen. */
export interface CapFields {
  /** Empty: no cap. */
  readonly credits: string;
  /** Null: nothing known was chosen. */
  readonly period: CapPeriod | null;
}

export const PERIOD_NAMES: Readonly<Record<CapPeriod, PlainText>> = {
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
export function capsOfFields(fields: readonly CapFields[]): Result<readonly SpendingCap[], Said> {
  const caps: SpendingCap[] = [];
  for (const { credits: typed, period } of fields.filter(({ credits }) => credits !== "")) {
    const credits = /^\d+$/.test(typed) ? Number(typed) : Number.NaN;
    if (!(credits <= COST_MAX_CREDITS)) return refused(NOT_CREDITS);
    if (period === null) return refused("Choose a period for each limit.");
    if (caps.some((cap) => cap.period === period)) {
      const period_name = message(PERIOD_NAMES[period]);
      return refused(
        message("There are two limits {period}. Keep one of them.", { period: period_name }),
      );
    }
    caps.push({ credits, period });
  }
  return accepted(caps);
}

/** With {@link COST_MAX_CREDITS} as each language writes it. */
export const NOT_CREDITS = "Enter a whole number of credits from 0 to 1,000,000,000,000.";

/** The problem of a form without a limit: the person confirms it. */
export const LIMIT_MISSING =
  "You set no limit. Enter one, or confirm below that it can spend everything that you have.";

interface CapChoiceProps {
  readonly caps: readonly CapFields[];
  /** Whether the person confirmed that there is no limit. */
  readonly no_limit: boolean;
  readonly problem: Said | undefined;
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
      <legend>{t("How much it can spend")}</legend>
      <FieldProblem id="credits_problem" problem={problemText(problem)} />
      <CapRow fields={first} index={0} problem={problem} />
      <p class="hint" id="credits_hint">
        {balance === undefined
          ? ""
          : `${t("You have {credits} now.", { credits: creditsText(balance) })} `}
        {wished.length === 0
          ? ""
          : `${t("It asks for {wish}.", { wish: joined(wished.map(wishText)) })} `}
        {t(
          "Without a limit, it can spend everything that you have, and a job can cost more than its estimate.",
        )}
      </p>
      {caps.every(({ credits }) => credits === "") && (no_limit || problem !== undefined) ? (
        <Choice type="checkbox" name="no_limit" value="yes" checked={no_limit}>
          {t("No limit")}
        </Choice>
      ) : null}
      <details open={others.some(({ credits }) => credits !== "")}>
        <summary>{t("More limits")}</summary>
        {[...others, ...empty].map((fields, index) => (
          <CapRow fields={fields} index={index + 1} problem={problem} />
        ))}
      </details>
    </fieldset>
  );
}

/** "100 credits a month and 500 credits in total". */
export const joined = (limits: readonly string[]): string => limits.join(` ${t("and")} `);

function wishText({ credits, period }: SpendingCap): string {
  return `${number(credits)} ${t("credits")} ${t(PERIOD_NAMES[period])}`;
}

const EMPTY: CapFields = { credits: "", period: "total" };

/** Periods that no cap has, since two caps of one period are a problem. */
function freePeriods(caps: readonly CapFields[]): readonly CapPeriod[] {
  const [first = EMPTY, ...others] = caps;
  return CAP_PERIODS.filter((period) => [first, ...others].every((cap) => cap.period !== period));
}

function CapRow(props: { fields: CapFields; index: number; problem: Said | undefined }) {
  const { fields, index, problem } = props;
  const suffix = index === 0 ? "" : `_${index + 1}`;
  const place = index + 1;
  return (
    <div class="cap">
      <label class="unseen" for={`credits${suffix}`}>
        {index === 0
          ? t("Largest number of credits")
          : t("Largest number of credits of limit {place}", { place })}
      </label>
      {/* Not a number field: browsers drop text that is not a number, and the person's limit with it. */}
      <input
        id={`credits${suffix}`}
        name="credits"
        type="text"
        inputmode="numeric"
        autocomplete="off"
        placeholder={t("No limit")}
        value={fields.credits}
        {...describedBy("credits_problem", problem, "credits_hint")}
      />
      <span aria-hidden="true">{t("credits")}</span>
      <label class="unseen" for={`period${suffix}`}>
        {index === 0 ? t("Period") : t("Period of limit {place}", { place })}
      </label>
      <select id={`period${suffix}`} name="period">
        {CAP_PERIODS.map((period) => (
          <option value={period} selected={period === (fields.period ?? "total")}>
            {t(PERIOD_NAMES[period])}
          </option>
        ))}
      </select>
    </div>
  );
}
