/** The fields of a form that gives a token: what it can do, each with its problem. */
import { rich, say, t, type PlainText, type Said } from "../language/text.tsx";
import { FIRST_TO_READ } from "../layout/layout.tsx";
import type { CapFields } from "./cap_choice.tsx";
import { Choice, describedBy, FieldProblem, groupDescribedBy, problemText } from "./fields.tsx";
import type { AllowanceAccess } from "../../domain/allowance.ts";

/** The form's values as they were chosen and typed; null if nothing is chosen. */
export interface LimitChoices {
  readonly access: AllowanceAccess | null;
  readonly reach: "all" | "some" | null;
  /** Slugs of the ticked apps. */
  readonly apps: readonly string[];
  /** Slugs of other apps, as typed. */
  readonly other_apps: string;
  /** The caps as typed; none, or one that is empty, for no cap. */
  readonly caps: readonly CapFields[];
  /** Whether the person confirmed that it has no cap. */
  readonly no_limit: boolean;
  /** Whether it can get upstream tokens. */
  readonly upstream: boolean;
  /** Whether it can operate the service; only operators see this field. */
  readonly admin: boolean;
}

export interface ApprovalChoices extends LimitChoices {
  /** The part of the code that was typed. */
  readonly last_letters: string;
}

/** The problems by field. `whole`: a problem that concerns no field. */
export interface ApprovalProblems {
  readonly last_letters?: Said;
  readonly access?: Said;
  readonly apps?: Said;
  readonly credits?: Said;
  readonly label?: Said;
  readonly days?: Said;
  readonly whole?: "too_many_tokens";
}

export interface RegisteredApp {
  readonly slug: string;
  readonly name: string;
}

interface ChoicesProps {
  readonly choices: LimitChoices;
  readonly problems: ApprovalProblems;
}

/** The fields that the summary of problems links to, by id and name; of a group, the first field. */
const FIELDS = {
  access: ["access_write", "What it can do"],
  apps: ["reach_some", "Which apps it can use"],
  credits: ["credits", "How much it can spend"],
  last_letters: ["last_letters", "The letters of the code"],
  label: ["label", "Name"],
  days: ["days", "When its access ends"],
} as const satisfies Readonly<
  Record<Exclude<keyof ApprovalProblems, "whole">, readonly [string, PlainText]>
>;

/** Links to the fields that have a problem, at the top of the page. The problem itself is said at its field. */
export function Summary(props: Pick<ChoicesProps, "problems"> & { readonly heading?: Said }) {
  const { problems, heading = "Nothing has access yet." } = props;
  const { whole, ...fields } = problems;
  const names = Object.keys(FIELDS) as (keyof typeof FIELDS)[];
  const listed = names.filter((name) => fields[name] !== undefined).map((name) => FIELDS[name]);
  if (whole === undefined && listed.length === 0) return null;
  return (
    <div class="problem" role="alert" {...FIRST_TO_READ}>
      <p>
        <strong>{say(heading)}</strong> {t("Your choices are kept.")}
        {listed.length === 0 ? null : ` ${t("Please correct:")}`}
      </p>
      <ul>
        {whole === undefined ? null : (
          <li>
            {rich(
              "Your account has reached its limit of devices and tokens. {link}, then try again.",
              { link: <a href="/account/access">{t("Revoke one that you no longer need")}</a> },
            )}
          </li>
        )}
        {listed.map(([id, name]) => (
          <li>
            <a href={`#${id}`}>{t(name)}</a>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The options of the choices: the registered apps, the providers of upstream tokens, and operating the service. */
export interface Offered {
  readonly registered_apps: readonly RegisteredApp[];
  /** The names of the providers whose upstream tokens may be stored for the person; null: it can get none. */
  readonly upstream_names: readonly string[] | null;
  /** Whether the person is an operator and can give operator rights. */
  readonly may_operate: boolean;
}

export function AccessChoice({ choices, problems }: ChoicesProps) {
  const described = groupDescribedBy("access_problem", problems.access);
  const { access } = choices;
  return (
    <fieldset {...described}>
      <legend>{t("What it can do")}</legend>
      <FieldProblem id="access_problem" problem={problemText(problems.access)} />
      <Choice
        type="radio"
        id="access_write"
        name="access"
        value="write"
        checked={access === "write"}
      >
        {t("Read and spend")}
        <small>
          {t(
            "Run jobs and pay for them with your credits, and see your balance, plan, jobs and ledger.",
          )}
        </small>
      </Choice>
      <Choice type="radio" name="access" value="read" checked={access === "read"}>
        {t("Read only")}
        <small>{t("See your balance, plan, jobs and ledger.")}</small>
      </Choice>
      <p class="hint">
        {t(
          "Only without a limit and in all apps, it also sees your name and e-mail address and what else has access, can stop apps, and can open a checkout, where you would pay.",
        )}
      </p>
    </fieldset>
  );
}

/** `wished`: the apps that the client asks for, if the form does not start with them. */
export function AppsChoice(
  props: ChoicesProps & {
    readonly registered_apps: readonly RegisteredApp[];
    readonly wished?: readonly string[];
  },
) {
  const { choices, problems, registered_apps, wished = [] } = props;
  const { reach, apps } = choices;
  const unregistered = apps.filter((slug) => !registered_apps.some((app) => app.slug === slug));
  const listed = [...registered_apps, ...unregistered.map((slug) => ({ slug, name: slug }))];
  const nameOf = (slug: string) => listed.find((app) => app.slug === slug)?.name ?? slug;
  const described = groupDescribedBy("apps_problem", problems.apps);
  return (
    <fieldset class="apps" {...described}>
      <legend>{t("Which apps it can use")}</legend>
      <FieldProblem id="apps_problem" problem={problemText(problems.apps)} />
      {wished.length === 0 ? null : (
        <p class="hint">{t("It asks for {wish}.", { wish: wished.map(nameOf).join(", ") })}</p>
      )}
      <Choice type="radio" id="reach_some" name="reach" value="some" checked={reach === "some"}>
        {t("Only these apps")}
      </Choice>
      <div class="only-these">
        {listed.map(({ slug, name }) => (
          <Choice
            type="checkbox"
            name="app"
            value={slug}
            checked={apps.includes(slug)}
            data-name={name}
          >
            {name} {name === slug ? null : <small class="aside">{slug}</small>}
          </Choice>
        ))}
        <details open={choices.other_apps !== "" || listed.length === 0}>
          <summary>{t("Other apps")}</summary>
          <label for="other_apps">{t("App names")}</label>
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
            {t("Use the name from the app’s documentation. Separate several names with commas.")}
          </p>
        </details>
      </div>
      <Choice type="radio" name="reach" value="all" checked={reach === "all"}>
        {t("All apps")}
      </Choice>
    </fieldset>
  );
}

/** For operators only. It is off by default because it gives the most access. */
export function AdminChoice({ choices }: { choices: LimitChoices }) {
  return (
    <fieldset>
      <legend>{t("Operating the service")}</legend>
      <Choice type="checkbox" name="admin" value="yes" checked={choices.admin}>
        {t("Let it operate the service as me")}
        <small>
          <strong class="alarming">
            {t("It can see every account and change credits, plans and access.")}
          </strong>{" "}
          {t(
            "The limits above do not apply to this. Every action is recorded in the audit log under your name.",
          )}
        </small>
      </Choice>
    </fieldset>
  );
}

/** Off by default, because the limits above do not apply to other providers' tokens. */
export function UpstreamChoice({
  choices,
  names,
}: {
  choices: LimitChoices;
  names: readonly string[];
}) {
  const providers = names.length === 0 ? t("other services") : names.join(", ");
  return (
    <fieldset>
      <legend>{t("Access to other services")}</legend>
      <Choice type="checkbox" name="upstream" value="yes" checked={choices.upstream}>
        {t("Act as me at {providers}", { providers })}
        <small>
          {t(
            "It can get your access tokens for these services. The limits above do not apply to them.",
          )}
        </small>
      </Choice>
    </fieldset>
  );
}
