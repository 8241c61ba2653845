/** `/console/apps`, `/console/new-app` and `/console/apps/{slug}`: the app registry and its forms. */
import { DEFAULT_POLICY } from "../../domain/app_policy.ts";
import { KEYS_PER_APP_MAX } from "../../domain/limits.ts";
import { refused } from "../../domain/result.ts";
import { AppPage, appPath, AppsPage, NewAppPage, type AddedKey } from "./apps_page.tsx";
import { consolePath } from "./table.tsx";
import { emptyForm, type FormState } from "./form.tsx";
import { actingOf } from "../../http/api/admin/audited_action.ts";
import { saveApp } from "../../operator/save_app.ts";
import { consoleNoticeText, ON_EXPIRY_NAMES, SETTLE_NAMES } from "./labels.ts";
import { listAppsQuery, readApps } from "../../http/api/admin/apps/list.ts";
import { CAP_PERIODS, type CapPeriod } from "../../domain/spending_cap.ts";
import { PERIOD_NAMES } from "../device/cap_choice.tsx";
import { findOriginProblem, saveAppBody, type SaveApp } from "../../http/api/admin/apps/save.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { appSlug } from "../../http/validation.ts";
import { cursorOf, readQuery } from "./queries.ts";
import {
  check,
  entriesOf,
  entryProblem,
  invalid,
  isOutdated,
  optional,
  readForm,
  shownText,
  submit,
  taken,
  textOf,
  versionOf,
  wholeNumberOf,
  withSavedValues,
  type FailedForm,
} from "./forms.ts";

const SETTING_LABELS = {
  name: "The name",
  starter_credits: "The starter credits",
  daily_starter_budget: "The daily limit of starter credits",
  origins: "The origins",
  settle: "The choice of who completes jobs",
  on_expiry: "The choice for jobs that time out",
  max_overage_percent: "The cost above the estimate",
  upstream_providers: "The providers",
  icon: "The icon",
  color: "The colour",
  suggested_cap: "The suggested limit",
  starter_excluded_domains: "The excluded domains",
};

const LABELS = { slug: "The slug", ...SETTING_LABELS, reason: "The reason" };

const SLUG_TAKEN = {
  slug: "An app with this slug is already registered. Change it on its own page.",
};

export const showApps = factory.createHandlers(async (context) => {
  const query = readQuery(context, listAppsQuery);
  const { apps, next_cursor } = await readApps(context, query);
  const cursor = query.cursor === undefined ? null : cursorOf(context);
  return context.html(<AppsPage {...{ apps, cursor, next_cursor }} />);
});

/** Suggests the starter credits that an unregistered slug has: 0, except in development. */
export const showNewApp = factory.createHandlers((context) => {
  const starter_credits = String(context.get("services").config.default_starter_credits);
  const { settle, on_expiry } = DEFAULT_POLICY;
  const form = emptyForm({ settle, on_expiry, starter_credits, suggested_period: "30_days" });
  return context.html(<NewAppPage form={form} />);
});

/** Registers an app. An app that is already registered can only be changed on its own page. */
export const registerApp = factory.createHandlers(async (context) => {
  const form = await readForm(context);
  const slug = textOf(form, "slug");
  const checked = await checkSettings(context, form);
  const parsed_slug = appSlug.safeParse(slug);
  const problems = {
    ...(parsed_slug.success
      ? {}
      : { slug: `${LABELS.slug} ${parsed_slug.error.issues[0]?.message}.` }),
    ...(checked.ok ? {} : checked.refusal),
  };
  if (!checked.ok || Object.keys(problems).length > 0) {
    return showNewAppForm(context, invalid(form, problems));
  }
  const failed = await save(context, form, slug, checked.value);
  if (failed === null) {
    return context.redirect(consolePath(appPath(slug), { notice: "app-saved" }), 303);
  }
  return showNewAppForm(context, isOutdated(failed) ? taken(failed, SLUG_TAKEN) : failed);
});

/** Saving settings that were checked is refused as invalid only because of the icon, which is copied then. */
const save = (
  context: AppContext,
  form: FormState,
  slug: string,
  { reason, version, ...settings }: SaveApp,
) =>
  submit(
    context,
    form,
    async () => {
      const request = { reason, version, key: form.key };
      return saveApp(await actingOf(context), slug, settings, request);
    },
    { invalid_request: "icon" },
  );

function showNewAppForm(context: AppContext, { form, status }: FailedForm) {
  return context.html(<NewAppPage form={form} />, status);
}

export const showApp = factory.createHandlers((context) => showAppPage(context, {}));

export const saveSettings = factory.createHandlers(async (context) => {
  const slug = context.req.param("slug") ?? "";
  const { app_records } = context.get("services");
  if ((await app_records.find(slug)) === null) {
    return refuseWithPage(context, { code: "app_unknown" });
  }
  const form = await readForm(context);
  const checked = await checkSettings(context, form);
  const failed = checked.ok
    ? await save(context, form, slug, checked.value)
    : invalid(form, checked.refusal);
  return failed === null
    ? context.redirect(consolePath(appPath(slug), { notice: "app-saved" }), 303)
    : showAppPage(context, { settings: failed });
});

/** A field's value as people read it. */
function shownValue(form: FormState, name: string): string {
  const value = textOf(form, name);
  const names: Readonly<Record<string, string>> = { ...SETTLE_NAMES, ...ON_EXPIRY_NAMES };
  if (name === "settle" || name === "on_expiry") return names[value] ?? "";
  if (name === "suggested_cap" && value !== "") {
    const period = textOf(form, "suggested_period");
    return `${value} ${CAP_PERIODS.includes(period as CapPeriod) ? PERIOD_NAMES[period as CapPeriod] : ""}`;
  }
  return shownText(form, name);
}

/** Checks a form's settings with the API's own schema. */
async function checkSettings(context: AppContext, form: FormState) {
  const wholeOrNull = (field: string) =>
    textOf(form, field) === "" ? null : wholeNumberOf(form, field);
  const textOrNull = (field: string) => textOf(form, field) || null;
  const list = (field: string) => entriesOf(form, field).map(({ entry }) => entry);
  const body = {
    name: textOf(form, "name"),
    starter_credits: wholeNumberOf(form, "starter_credits"),
    origins: list("origins"),
    daily_starter_budget: wholeOrNull("daily_starter_budget"),
    settle: textOf(form, "settle"),
    on_expiry: textOf(form, "on_expiry"),
    max_overage_percent: wholeOrNull("max_overage_percent"),
    upstream_providers: list("upstream_providers"),
    icon: textOrNull("icon"),
    color: textOrNull("color"),
    suggested_cap:
      textOf(form, "suggested_cap") === ""
        ? null
        : {
            credits: wholeNumberOf(form, "suggested_cap"),
            period: textOf(form, "suggested_period"),
          },
    starter_excluded_domains: list("starter_excluded_domains"),
    ...versionOf(form),
    ...optional(form, "reason"),
  };
  const checked = check(saveAppBody, body, LABELS, form);
  const problem = checked.ok ? await findOriginProblem(context, checked.value) : null;
  return problem === null ? checked : refused({ origins: entryProblem(form, "origins", problem) });
}

interface AppForms {
  readonly settings?: FailedForm;
  readonly new_key?: FailedForm;
  readonly added?: AddedKey;
}

/** The page of the app that the path names, with a form that failed or a key that was just added. */
export async function showAppPage(
  context: AppContext,
  { settings, new_key, added }: AppForms,
): Promise<Response> {
  const slug = context.req.param("slug") ?? "";
  const { app_records } = context.get("services");
  const [app, keys] = await Promise.all([
    app_records.find(slug),
    app_records.listKeys(slug, { limit: KEYS_PER_APP_MAX }),
  ]);
  if (app === null) return refuseWithPage(context, { code: "app_unknown" });
  const saved = {
    name: app.name,
    settle: app.settle,
    on_expiry: app.on_expiry,
    starter_credits: String(app.starter_credits),
    origins: app.origins.join("\n"),
    upstream_providers: app.upstream_providers.join(" "),
    daily_starter_budget: String(app.daily_starter_budget ?? ""),
    max_overage_percent: String(app.max_overage_percent ?? ""),
    icon: app.icon ?? "",
    color: app.color ?? "",
    suggested_cap: String(app.suggested_cap?.credits ?? ""),
    suggested_period: app.suggested_cap?.period ?? "30_days",
    starter_excluded_domains: app.starter_excluded_domains.join("\n"),
    version: String(app.version),
  };
  const shown =
    settings && isOutdated(settings)
      ? withSavedValues(settings, saved, Object.keys(SETTING_LABELS), shownValue)
      : settings;
  return context.html(
    <AppPage
      app={app}
      keys={keys.ok ? keys.value : []}
      settings={shown?.form ?? emptyForm(saved)}
      new_key={new_key?.form ?? emptyForm()}
      added={added ?? null}
      notice={consoleNoticeText(context.req.query("notice"))}
    />,
    settings?.status ?? new_key?.status ?? 200,
  );
}
