/** The field that says when an allowance ends. */
import { durationText, endText, lifetimeSeconds, type Lifetime } from "./money_sentence.tsx";
import { t, type Said } from "../language/text.tsx";
import { describedBy, FieldProblem, problemText } from "./fields.tsx";

export interface EndChoiceProps {
  /** Null: nothing valid was chosen. */
  readonly days: Lifetime | null;
  readonly lifetimes_days: readonly number[];
  /** The lifetime that the client asks for, if it is shorter than the suggested one; null: it asks for none. */
  readonly asked_seconds: number | null;
  /** Whether it also ends with the browser session. */
  readonly ends_with_session: boolean;
}

/** The end as the money sentence says it; null: nothing valid was chosen. */
export function endOf({ days, asked_seconds, ends_with_session }: EndChoiceProps): string | null {
  if (days === null) return null;
  const end = endText(lifetimeSeconds(days, asked_seconds));
  return ends_with_session ? t("{end}, or until you sign out here", { end }) : end;
}

export function EndChoice(props: EndChoiceProps & { readonly problem: Said | undefined }) {
  const { problem, lifetimes_days, asked_seconds, ends_with_session } = props;
  const asked = asked_seconds === null ? [] : (["asked"] as const);
  return (
    <fieldset>
      <legend>{t("When its access ends")}</legend>
      <FieldProblem id="days_problem" problem={problemText(problem)} />
      <label class="unseen" for="days">
        {t("Lifetime")}
      </label>
      <select id="days" name="days" {...describedBy("days_problem", problem, "days_hint")}>
        {[...asked, ...lifetimes_days].map((days) => (
          <option
            value={days}
            selected={days === props.days}
            data-end={endOf({ ...props, days }) ?? ""}
          >
            {optionText(days, asked_seconds)}
          </option>
        ))}
      </select>
      <p class="hint" id="days_hint">
        {ends_with_session
          ? t("It ends earlier if you sign out here.")
          : t("It does not end if you sign out here.")}
      </p>
    </fieldset>
  );
}

function optionText(days: Lifetime, asked_seconds: number | null): string {
  const duration = durationText(lifetimeSeconds(days, asked_seconds));
  return days === "asked"
    ? t("in {duration}, as it asks", { duration })
    : t("in {duration}", { duration });
}
