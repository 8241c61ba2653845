/** The choices on the approval form: what a device may do, each with its error beside it. */
import type { Child } from "hono/jsx";
import {
  CAP_PERIODS,
  type CapPeriod,
  type PersonalTokenAccess,
} from "../../domain/personal_token.ts";

/** What the form holds, as it was chosen and typed; null where nothing is chosen. */
export interface ApprovalChoices {
  /** What was typed of the code. */
  readonly last_letters: string;
  readonly access: PersonalTokenAccess | null;
  /** For all apps, or for some. */
  readonly reach: "all" | "some" | null;
  /** Slugs of the ticked apps. */
  readonly apps: readonly string[];
  /** Slugs of further apps, as typed. */
  readonly other_apps: string;
  /** Empty: no cap. */
  readonly credits: string;
  readonly period: CapPeriod | null;
  /** Whether third parties' tokens go along. */
  readonly upstream: boolean;
  /** Whether it operates the service; only operators are asked. */
  readonly admin: boolean;
}

/** What is wrong, by field. `whole`: with no field of the form. */
export interface ApprovalProblems {
  readonly last_letters?: string;
  readonly access?: string;
  readonly apps?: string;
  readonly credits?: string;
  readonly whole?: "too_many_tokens";
}

/** An app that operators registered. */
export interface KnownApp {
  readonly slug: string;
  readonly name: string;
}

interface ChoicesProps {
  readonly choices: ApprovalChoices;
  readonly problems: ApprovalProblems;
}

/** An error beside its field, which names it by `aria-describedby`. */
export function FieldProblem({ id, problem }: { id: string; problem: string | undefined }) {
  if (problem === undefined) return null;
  return (
    <p class="field-problem" id={id}>
      {problem}
    </p>
  );
}

/** The attributes that tie a field to its hint and, where it has one, its error. */
export function describedBy(problem_id: string, problem: string | undefined, hint_id?: string) {
  const ids = [problem === undefined ? null : problem_id, hint_id ?? null].filter(Boolean);
  return {
    ...(ids.length === 0 ? {} : { "aria-describedby": ids.join(" ") }),
    ...(problem === undefined ? {} : { "aria-invalid": "true" as const }),
  };
}

/** {@link describedBy} for a group, which is never invalid itself (WAI-ARIA 1.2, aria-invalid). */
function groupDescribedBy(problem_id: string, problem: string | undefined) {
  return problem === undefined ? {} : { "aria-describedby": problem_id };
}

/** Where each field's error is found, for the summary's links; the first field of a group. */
export const FIELD_IDS = {
  access: "access_write",
  apps: "reach_some",
  credits: "credits",
  last_letters: "last_letters",
} as const;

/** One of the choices of a form: its box and its words. */
export function Choice(props: { children: Child; [attribute: string]: unknown }) {
  const { children, ...attributes } = props;
  return (
    <label class="choice">
      <input {...attributes} />
      <span>{children}</span>
    </label>
  );
}

export function AccessChoice({ choices, problems }: ChoicesProps) {
  const described = groupDescribedBy("access_problem", problems.access);
  const { access } = choices;
  return (
    <fieldset {...described}>
      <legend>What it may do</legend>
      <FieldProblem id="access_problem" problem={problems.access} />
      <Choice
        type="radio"
        id="access_write"
        name="access"
        value="write"
        checked={access === "write"}
      >
        Read and spend
        <small>see your account, run jobs and pay for them with your credits</small>
      </Choice>
      <Choice type="radio" name="access" value="read" checked={access === "read"}>
        Read only
        <small>see balance, jobs and ledger</small>
      </Choice>
    </fieldset>
  );
}

export function AppsChoice(props: ChoicesProps & { known_apps: readonly KnownApp[] }) {
  const { choices, problems, known_apps } = props;
  const { reach, apps } = choices;
  const invented = apps.filter((slug) => !known_apps.some((app) => app.slug === slug));
  const listed = [...known_apps, ...invented.map((slug) => ({ slug, name: slug }))];
  const described = groupDescribedBy("apps_problem", problems.apps);
  return (
    <fieldset class="apps" {...described}>
      <legend>In which apps</legend>
      <FieldProblem id="apps_problem" problem={problems.apps} />
      <Choice type="radio" id="reach_some" name="reach" value="some" checked={reach === "some"}>
        Only these apps
      </Choice>
      <div class="only-these">
        {listed.map(({ slug, name }) => (
          <Choice type="checkbox" name="app" value={slug} checked={apps.includes(slug)}>
            {name} {name === slug ? null : <small class="aside">{slug}</small>}
          </Choice>
        ))}
        <details open={choices.other_apps !== "" || listed.length === 0}>
          <summary>Other apps</summary>
          <label for="other_apps">Their short names</label>
          <input
            id="other_apps"
            name="other_apps"
            type="text"
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            value={choices.other_apps}
            {...describedBy("apps_problem", problems.apps, "other_apps_hint")}
          />
          <p class="hint" id="other_apps_hint">
            As the app’s maker tells you; commas between several.
          </p>
        </details>
      </div>
      <Choice type="radio" name="reach" value="all" checked={reach === "all"}>
        All apps
      </Choice>
    </fieldset>
  );
}

const PERIOD_WORDS: Readonly<Record<CapPeriod, string>> = {
  total: "in total",
  "30_days": "every 30 days",
};

export function CapChoice({ choices, problems }: ChoicesProps) {
  return (
    <fieldset>
      <legend>How much it may spend</legend>
      <FieldProblem id="credits_problem" problem={problems.credits} />
      <div class="cap">
        <label class="unseen" for="credits">
          At most this many credits
        </label>
        {/* Not a number field: it would drop what it cannot read, and with it the person's limit. */}
        <input
          id="credits"
          name="credits"
          type="text"
          inputmode="numeric"
          autocomplete="off"
          placeholder="No limit"
          value={choices.credits}
          {...describedBy("credits_problem", problems.credits, "credits_hint")}
        />
        <span aria-hidden="true">credits</span>
        <label class="unseen" for="period">
          Counted
        </label>
        <select id="period" name="period">
          {CAP_PERIODS.map((period) => (
            <option value={period} selected={period === (choices.period ?? "total")}>
              {PERIOD_WORDS[period]}
            </option>
          ))}
        </select>
      </div>
      <p class="hint" id="credits_hint">
        Empty means no limit: a job may also cost more than its estimate.
      </p>
    </fieldset>
  );
}

/** For operators only, and off unless chosen: the widest thing that can be given away here. */
export function AdminChoice({ choices }: { choices: ApprovalChoices }) {
  return (
    <fieldset>
      <legend>Operating the service</legend>
      <Choice type="checkbox" name="admin" value="yes" checked={choices.admin}>
        Let it operate the service as me
        <small>
          <strong class="alarming">
            It may see every account and change credits, plans and access.
          </strong>{" "}
          The limits above do not hold for that. Each act is in the audit log under your name.
        </small>
      </Choice>
    </fieldset>
  );
}

/** Off unless chosen: what such a token opens knows nothing of the limits above. */
export function UpstreamChoice({
  choices,
  names,
}: {
  choices: ApprovalChoices;
  names: readonly string[];
}) {
  const where = names.length === 0 ? "other services" : names.join(", ");
  return (
    <fieldset>
      <legend>Beyond this account</legend>
      <Choice type="checkbox" name="upstream" value="yes" checked={choices.upstream}>
        {`Also act as me at ${where}`}
        <small>
          It gets the access tokens that you gave us for signing in there. The limits above do not
          hold for those.
        </small>
      </Choice>
    </fieldset>
  );
}
