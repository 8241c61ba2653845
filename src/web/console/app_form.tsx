/** The form of an app: its settings, each stated once. */
import { CAP_PERIODS, type CapPeriod } from "../../domain/spending_cap.ts";
import { appSlug } from "../../fields.ts";
import {
  changeAppBody,
  findAppProblem,
  saveApp,
  saveAppBody,
  type AppRecord,
  type ChangeApp,
  type SaveApp,
} from "../../operator/save_app.ts";
import { Choice } from "../allowance/fields.tsx";
import { PERIOD_NAMES } from "../allowance/cap_choice.tsx";
import type { FormState } from "./form.tsx";
import { textOf } from "./forms.ts";
import { ON_EXPIRY_NAMES, SETTLE_NAMES } from "./labels.ts";
import {
  choice,
  flag,
  list,
  text,
  textOrNull,
  wholeNumber,
  wholeNumberOrNull,
  type RecordField,
  type RecordForm,
} from "./record_form.tsx";

const suggested_credits = wholeNumberOrNull({
  name: "suggested_cap",
  label: "Suggested limit, in credits",
  called: "The suggested limit",
  hint: "The limit that people start with when they connect a device or a client of this app. They can change it. If it is empty, they start with 50 in total.",
});

/** The credits and the period, as on the page where a person approves a device. */
const suggested_cap: RecordField = {
  name: "suggested_cap",
  label: "Suggested limit",
  called: "The suggested limit",
  body(form) {
    const { suggested_cap: credits } = suggested_credits.body(form) as { suggested_cap: unknown };
    const cap = credits === null ? null : { credits, period: textOf(form, "suggested_period") };
    return { suggested_cap: cap };
  },
  values(record) {
    const { suggested_cap: cap } = record as AppRecord;
    return {
      suggested_cap: String(cap?.credits ?? ""),
      suggested_period: cap?.period ?? SUGGESTED_PERIOD,
    };
  },
  shown(form) {
    const credits = textOf(form, "suggested_cap");
    const period = textOf(form, "suggested_period");
    return credits === "" ? "" : `${credits} ${PERIOD_NAMES[period as CapPeriod] ?? ""}`;
  },
  Input: ({ form }) => (
    <>
      <suggested_credits.Input form={form} />
      <Period form={form} />
    </>
  ),
};

export const SUGGESTED_PERIOD: CapPeriod = "month";

function Period({ form }: { form: FormState }) {
  return (
    <>
      <label for="suggested_period">Period of the suggested limit</label>
      <select id="suggested_period" name="suggested_period">
        {CAP_PERIODS.map((period) => (
          <option value={period} selected={form.values["suggested_period"] === period}>
            {PERIOD_NAMES[period]}
          </option>
        ))}
      </select>
    </>
  );
}

function StarterOnlyHere({ form }: { form: FormState }) {
  return (
    <Choice
      type="checkbox"
      id="starter_only_here"
      name="starter_only_here"
      value="yes"
      checked={form.values["starter_only_here"] === "yes"}
    >
      Only this app can use its starter credits
    </Choice>
  );
}

/** A part of the settings, with its own form on an app's page. */
interface AppGroup {
  readonly id: string;
  readonly title: string;
  readonly fields: readonly RecordField[];
}

const LOOK: readonly RecordField[] = [
  text({
    name: "name",
    label: "Name",
    called: "The name",
    hint: "The name that people see.",
  }),
  textOrNull({
    name: "icon",
    label: "Icon",
    called: "The icon",
    inputmode: "url",
    spellcheck: false,
    hint: "An https address of a PNG, JPEG, WebP or ICO picture of at most 64 KiB. Pages show a copy of it. Leave it empty for none.",
  }),
  textOrNull({
    name: "color",
    label: "Colour",
    called: "The colour",
    spellcheck: false,
    hint: "Such as #12507b. Without an icon, pages show the first letter of the name on it. Leave it empty for none.",
  }),
];

const STARTER_CREDITS: readonly RecordField[] = [
  wholeNumber({
    name: "starter_credits",
    label: "Starter credits",
    called: "The starter credits",
    hint: "Each account gets these once, when it first uses the app.",
  }),
  wholeNumberOrNull({
    name: "daily_starter_budget",
    label: "Daily limit of starter credits",
    called: "The daily limit of starter credits",
    hint: "For all accounts together, per UTC day. Leave it empty for no limit.",
  }),
  list({
    name: "starter_excluded_domains",
    label: "E-mail domains without starter credits",
    called: "The excluded domains",
    rows: 3,
    hint: "One per line, such as mailinator.com. Subdomains count too. If you list any, people without a verified e-mail address get none either.",
  }),
  wholeNumberOrNull({
    name: "starter_expires_after_days",
    label: "Days until starter credits expire",
    called: "The days until starter credits expire",
    hint: "For credits that accounts get from now on. Leave it empty if they never expire.",
  }),
  flag(
    "starter_only_here",
    { label: "Only this app can use them", called: "The choice for starter credits" },
    StarterOnlyHere,
  ),
];

const JOBS: readonly RecordField[] = [
  choice({
    name: "settle",
    legend: "Who can complete and fail its jobs",
    called: "The choice of who completes jobs",
    options: SETTLE_NAMES,
  }),
  choice({
    name: "on_expiry",
    legend: "When a job times out",
    called: "The choice for jobs that time out",
    options: ON_EXPIRY_NAMES,
  }),
  wholeNumberOrNull({
    name: "max_overage_percent",
    label: "Largest cost above the estimate, in percent",
    called: "The cost above the estimate",
    hint: "A job that costs more cannot be completed. If its estimate is 0, it must cost 0. Leave it empty for no limit.",
  }),
];

const SECURITY: readonly RecordField[] = [
  list({
    name: "origins",
    label: "Origins",
    called: "The origins",
    rows: 3,
    hint: "One per line, such as https://app.example.com or myapp://callback. Pages on these origins can call the API as the person who is signed in.",
  }),
  list({
    name: "upstream_providers",
    label: "Access tokens of other providers",
    called: "The providers",
    hint: "Ids of sign-in providers, such as google. The app’s pages can get the signed-in person’s access tokens for them. Leave it empty for none.",
  }),
  suggested_cap,
];

const GROUPS: readonly AppGroup[] = [
  { id: "look", title: "Look", fields: LOOK },
  { id: "starter-credits", title: "Starter credits", fields: STARTER_CREDITS },
  { id: "jobs", title: "Jobs", fields: JOBS },
  { id: "security", title: "Security", fields: SECURITY },
];

export const APP_FORM = {
  id: {
    name: "slug",
    label: "Slug",
    called: "The slug",
    hint: "The app’s id in the API, such as sketch. You cannot change it later.",
    taken: "An app with this slug is already registered. Change it on its own page.",
    problemOf: (slug) => appSlug.safeParse(slug).error?.issues[0]?.message ?? null,
  },
  fields: GROUPS.flatMap(({ fields }) => fields),
  schema: saveAppBody,
  // Saving settings that were checked is refused as invalid only because of the icon, which is copied then.
  refusals: { invalid_request: "icon" },
  find: ({ app_records }, { id }) => app_records.find(id),
  findProblem: (context, _, body) => findAppProblem(context.get("services"), body),
  save: (acting, { id }, body) => saveApp(acting, id, body),
} satisfies RecordForm<SaveApp, AppRecord>;

/** The forms that change a registered app, in the order of its page. */
export const APP_GROUPS = GROUPS.map((group) => ({
  ...group,
  form: {
    ...APP_FORM,
    fields: group.fields,
    schema: changeAppBody,
    findProblem: (context, _, body) => findAppProblem(context.get("services"), body),
    save: (acting, { id }, body) => saveApp(acting, id, body),
  } satisfies RecordForm<ChangeApp, AppRecord>,
}));
