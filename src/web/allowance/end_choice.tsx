/** The field that says when an allowance ends. */
import { durationText, endText, lifetimeSeconds, type Lifetime } from "./money_sentence.tsx";
import { describedBy, FieldProblem } from "./fields.tsx";

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
  return ends_with_session ? `${end}, or until you sign out here` : end;
}

export function EndChoice(props: EndChoiceProps & { readonly problem: string | undefined }) {
  const { problem, lifetimes_days, asked_seconds, ends_with_session } = props;
  const asked = asked_seconds === null ? [] : (["asked"] as const);
  return (
    <fieldset>
      <legend>When its access ends</legend>
      <FieldProblem id="days_problem" problem={problem} />
      <label class="unseen" for="days">
        Lifetime
      </label>
      <select id="days" name="days" {...describedBy("days_problem", problem, "days_hint")}>
        {[...asked, ...lifetimes_days].map((days) => (
          <option
            value={days}
            selected={days === props.days}
            data-end={endOf({ ...props, days }) ?? ""}
          >
            in {durationText(lifetimeSeconds(days, asked_seconds))}
            {days === "asked" ? ", as it asks" : ""}
          </option>
        ))}
      </select>
      <p class="hint" id="days_hint">
        {ends_with_session
          ? "It ends earlier if you sign out here."
          : "It does not end if you sign out here."}
      </p>
    </fieldset>
  );
}
