/**
 * The form on which a person gives an allowance, for OAuth clients, devices, tokens made by hand and resources: first what it
 * can spend, then who asks and what it may do, then the fields that change this.
 */
import type { Child } from "hono/jsx";
import type { AllowanceAccess } from "../../domain/allowance.ts";
import type { SpendingCap } from "../../domain/spending_cap.ts";
import { rich, t, template } from "../language/text.tsx";
import { CapChoice } from "./cap_choice.tsx";
import {
  AccessChoice,
  AdminChoice,
  AppsChoice,
  Summary,
  UpstreamChoice,
  type ApprovalProblems,
  type LimitChoices,
  type Offered,
} from "./choices.tsx";
import { EndChoice, endOf, type EndChoiceProps } from "./end_choice.tsx";
import { appsText, endText, MoneySentence } from "./money_sentence.tsx";

/** A page with the form has these scripts. */
export const ALLOWANCE_SCRIPTS = ["forms.js", "allowance.js"] as const;

interface AllowanceFormProps {
  readonly title: string;
  /** The path that the form is sent to. */
  readonly action: string;
  readonly choices: LimitChoices;
  readonly problems: ApprovalProblems;
  readonly offered: Offered;
  /**
   * The rights of a request: then the person cannot choose between reading and spending, and `asker` lists the rights. Undefined:
   * the person chooses.
   */
  readonly fixed_access?: AllowanceAccess;
  /** Spending that its other tokens are allowed already, if the request is for less: this stays. */
  readonly kept?: Pick<LimitChoices, "access" | "caps" | "reach" | "apps" | "other_apps"> | null;
  /** The only app that it can be for, which the person cannot change; null or undefined: the form has the choice. */
  readonly only_app?: string | null;
  /** The available credits. */
  readonly balance: number;
  /** The client's wish, if the form does not start with it. */
  readonly wished?: Wished;
  /** The choice of the end, or the seconds after which it ends. */
  readonly end: EndChoiceProps | number;
  /** Above the title. */
  readonly head?: Child;
  /** The asker and the rights, shown above the form. */
  readonly asker?: Child;
  /** The first fields of the form, also hidden ones. */
  readonly first_fields: Child;
  /** Warnings before the decision. */
  readonly warning?: Child;
  readonly buttons: Child;
}

export interface Wished {
  readonly caps: readonly SpendingCap[];
  readonly apps: readonly string[];
}

export function AllowanceForm(props: AllowanceFormProps) {
  const { title, problems, choices, fixed_access, end, asker, buttons } = props;
  const access = fixed_access ?? choices.access;
  const spending = props.kept ?? { ...choices, access };
  const has_end_choice = typeof end !== "number";
  return (
    <>
      <Summary problems={problems} />
      {props.head}
      <h1>{title}</h1>
      {isUnclear(props) ? null : (
        <MoneySentence
          access={spending.access}
          caps={spending.caps}
          where={spending.access === "none" ? null : whereText(props, spending)}
          end={has_end_choice ? endOf(end) : endText(end)}
        />
      )}
      <p class="hint">{t("You can stop it at any time in your account.")}</p>
      {asker}
      <form method="post" action={props.action} autocomplete="off" {...moneyTexts()}>
        {props.first_fields}
        {fixed_access === undefined ? <AccessChoice {...{ choices, problems }} /> : null}
        {fixed_access === "read" || fixed_access === "none" ? null : (
          <CapChoice
            {...choices}
            problem={problems.credits}
            balance={props.balance}
            wished={props.wished?.caps ?? []}
          />
        )}
        {has_end_choice ? <EndChoice {...end} problem={problems.days} /> : null}
        {access === "none" || (props.only_app ?? null) !== null ? null : <Apps {...props} />}
        <OtherRights {...props} />
        {props.warning}
        <div class="acts next">{buttons}</div>
      </form>
    </>
  );
}

/** The parts of the money sentence, for `allowance.js`. */
function moneyTexts() {
  return {
    "data-allowance": true,
    "data-all": t("It can spend all your credits"),
    "data-read": t("It can read, and spend nothing"),
    "data-most": template("It can spend at most {limits}"),
    "data-credit": t("credit"),
    "data-credits": t("credits"),
    "data-and": t("and"),
    "data-all-apps": t("in all apps"),
    "data-some-apps": template("in {apps} only"),
    "data-no-app": t("in no app"),
  };
}

/** The list of apps is long, so it is folded as long as the chosen ones are known. */
function Apps(props: AllowanceFormProps) {
  const { choices, problems, offered, wished } = props;
  const is_open = problems.apps !== undefined || choices.reach === null;
  return (
    <details class="limits" open={is_open}>
      <summary>
        {rich("{apps} – change", {
          apps: <span data-shown="apps">{whereText(props, choices)}</span>,
        })}
      </summary>
      <AppsChoice
        choices={choices}
        problems={problems}
        registered_apps={offered.registered_apps}
        wished={wished?.apps ?? []}
      />
    </details>
  );
}

/** Whether the fields have no meaning yet. An empty limit has one. */
function isUnclear({ choices, problems }: AllowanceFormProps): boolean {
  const has_caps = choices.caps.some(({ credits }) => credits !== "");
  const { apps, days, credits } = problems;
  return apps !== undefined || days !== undefined || (credits !== undefined && has_caps);
}

function whereText(
  { offered, only_app = null }: AllowanceFormProps,
  { reach, apps, other_apps }: Pick<LimitChoices, "reach" | "apps" | "other_apps">,
): string {
  const nameOf = (slug: string) =>
    offered.registered_apps.find((it) => it.slug === slug)?.name ?? slug;
  if (only_app !== null) return appsText([nameOf(only_app)]);
  // The person has not chosen yet.
  if (reach === null) return t("in the apps that you choose");
  const names = [...apps.map(nameOf), other_apps].filter((name) => name !== "");
  return appsText(reach === "all" ? null : names);
}

/** Rights that no limit binds. They are folded if the person would have to look for a reason to give them. */
function OtherRights({ choices, offered, fixed_access }: AllowanceFormProps) {
  const { upstream_names, may_operate } = offered;
  const upstream =
    upstream_names === null ? null : <UpstreamChoice choices={choices} names={upstream_names} />;
  if (fixed_access !== undefined) return upstream;
  return (
    <details class="limits" open={choices.upstream || choices.admin}>
      <summary>{t("More rights")}</summary>
      {upstream}
      {may_operate ? <AdminChoice choices={choices} /> : null}
    </details>
  );
}
