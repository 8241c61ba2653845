/** `/console/apps`, `/console/new-app` and `/console/apps/{slug}`: the registry of apps, by forms. */
import { DEFAULT_POLICY } from "../../domain/app_policy.ts";
import { KEYS_PER_APP_MAX } from "../../domain/limits.ts";
import { refused } from "../../domain/result.ts";
import {
  appAddress,
  AppPage,
  AppsPage,
  NewAppPage,
  type MadeKey,
  type ShownAppRecord,
} from "./apps_page.tsx";
import { consoleAddress } from "./table.tsx";
import { emptyForm, type FormState } from "./form.tsx";
import { doneWords, FORM_PROBLEMS, ON_EXPIRY_NAMES, SETTLE_NAMES } from "./words.ts";
import { listAppsQuery, readApps } from "../../http/api/admin/apps/list.ts";
import { findOriginProblem, saveApp, saveAppBody } from "../../http/api/admin/apps/save.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { appSlug } from "../../http/validation.ts";
import { askedFor, cursorOf } from "./asked.ts";
import {
  attempt,
  check,
  notDone,
  optional,
  readForm,
  textOf,
  wholeOf,
  type NotDone,
} from "./forms.ts";

const LABELS = {
  slug: "The slug",
  name: "The name",
  starter_credits: "The starter credits",
  daily_starter_budget: "The starter credits of a day",
  origins: "Each origin",
  settle: "Who ends jobs",
  on_expiry: "What happens in the end",
  max_overage_percent: "The cost above the estimate",
  upstream_providers: "Each provider",
  reason: "The reason",
};

const SLUG_TAKEN = {
  slug: "An app of this slug is registered already. Change it on its own page.",
};

export const showApps = factory.createHandlers(async (context) => {
  const query = askedFor(context, listAppsQuery);
  const { apps, next_cursor } = await readApps(context, query);
  const cursor = query.cursor === undefined ? null : cursorOf(context);
  return context.html(<AppsPage {...{ apps, cursor, next_cursor }} />);
});

/** Suggests the starter credits that the slug has until it is registered: in development not 0. */
export const showNewApp = factory.createHandlers((context) => {
  const starter_credits = String(context.get("services").config.default_starter_credits);
  const { settle, on_expiry } = DEFAULT_POLICY;
  const form = emptyForm({ settle, on_expiry, starter_credits });
  return context.html(<NewAppPage form={form} />);
});

/** Registers an app under a slug that is free: what is registered is changed on its own page. */
export const registerApp = factory.createHandlers(async (context) => {
  const form = await readForm(context);
  const slug = textOf(form, "slug");
  const order = await checkSettings(context, form);
  const free = appSlug.safeParse(slug);
  const problems = {
    ...(free.success ? {} : { slug: `${LABELS.slug} ${free.error.issues[0]?.message}.` }),
    ...(order.ok ? {} : order.refusal),
  };
  if (!order.ok || Object.keys(problems).length > 0) {
    return answerNewApp(context, notDone(form, problems));
  }
  const { app_records } = context.get("services");
  const known = await app_records.find(slug);
  // What this very form registered a moment ago is no other app.
  const { reason: _, ...settings } = order.value;
  const same = known !== null && JSON.stringify(settingsOf(known)) === JSON.stringify(settings);
  if (known !== null && !same) {
    return answerNewApp(context, notDone(form, SLUG_TAKEN));
  }
  const not_done = await attempt(context, form, () =>
    saveApp(context, slug, order.value, form.key),
  );
  return not_done === null
    ? context.redirect(consoleAddress(appAddress(slug), { notice: "app-saved" }), 303)
    : answerNewApp(context, isLost(not_done) ? notDone(form, SLUG_TAKEN) : not_done);
});

/** Whether a colleague registered or saved the app first. */
const isLost = ({ code }: NotDone): boolean => code === "app_changed";

function answerNewApp(context: AppContext, { form, status }: NotDone) {
  return context.html(<NewAppPage form={form} />, status);
}

export const showApp = factory.createHandlers((context) => answerApp(context, {}));

export const saveSettings = factory.createHandlers(async (context) => {
  const slug = context.req.param("slug") ?? "";
  const { app_records } = context.get("services");
  if ((await app_records.find(slug)) === null) {
    return refuseWithPage(context, { code: "app_unknown" });
  }
  const form = await readForm(context);
  const order = await checkSettings(context, form);
  const not_done = order.ok
    ? await attempt(context, form, () => saveApp(context, slug, order.value, form.key))
    : notDone(form, order.refusal);
  return not_done === null
    ? context.redirect(consoleAddress(appAddress(slug), { notice: "app-saved" }), 303)
    : answerApp(context, { settings: not_done });
});

/**
 * The form as it was sent, with what a colleague saved meanwhile where it differs. It now carries the
 * version that it shows, so that sending it again is a decision.
 */
function besideSaved({ form, ...rest }: NotDone, saved: FormState["values"]): NotDone {
  const differing = Object.entries(saved).filter(
    ([name, value]) => Object.hasOwn(LABELS, name) && textOf(form, name) !== value,
  );
  const problems = differing.map(([name, value]) => [name, savedWords(name, value)]);
  const values = { ...form.values, version: saved["version"] ?? "" };
  return {
    ...rest,
    form: {
      ...form,
      values,
      problems: { "": FORM_PROBLEMS.changed, ...Object.fromEntries(problems) },
    },
  };
}

function savedWords(name: string, value: string): string {
  const names: Readonly<Record<string, string>> = { ...SETTLE_NAMES, ...ON_EXPIRY_NAMES };
  const shown = ["settle", "on_expiry"].includes(name) ? names[value] : value.replaceAll("\n", " ");
  return `Saved is now: ${shown === "" ? "nothing" : shown}.`;
}

/** The settings of a form, as the API takes them. */
async function checkSettings(context: AppContext, form: FormState) {
  const wholeOrNull = (field: string) => (textOf(form, field) === "" ? null : wholeOf(form, field));
  const body = {
    name: textOf(form, "name"),
    starter_credits: wholeOf(form, "starter_credits"),
    origins: textOf(form, "origins").split(/\s+/).filter(Boolean),
    daily_starter_budget: wholeOrNull("daily_starter_budget"),
    settle: textOf(form, "settle"),
    on_expiry: textOf(form, "on_expiry"),
    max_overage_percent: wholeOrNull("max_overage_percent"),
    upstream_providers: textOf(form, "upstream_providers")
      .split(/[\s,]+/)
      .filter(Boolean),
    ...("version" in form.values ? { version: wholeOf(form, "version") } : {}),
    ...optional(form, "reason"),
  };
  const order = check(saveAppBody, body, LABELS);
  const problem = order.ok ? await findOriginProblem(context, order.value) : null;
  return problem === null ? order : refused({ origins: `${LABELS.origins} ${problem.message}.` });
}

function settingsOf(app: ShownAppRecord & { readonly on_expiry: string }) {
  const { name, starter_credits, origins, daily_starter_budget } = app;
  const { settle, on_expiry, max_overage_percent, upstream_providers } = app;
  const required = { name, starter_credits, origins, daily_starter_budget };
  return { ...required, settle, on_expiry, max_overage_percent, upstream_providers };
}

interface AppForms {
  readonly settings?: NotDone;
  readonly new_key?: NotDone;
  readonly made?: MadeKey;
}

/** The page of the app that the address names, with a form that was not done, or a key just made. */
export async function answerApp(
  context: AppContext,
  { settings, new_key, made }: AppForms,
): Promise<Response> {
  const slug = context.req.param("slug") ?? "";
  const { app_records } = context.get("services");
  const [app, keys] = await Promise.all([
    app_records.find(slug),
    app_records.listKeys(slug, { limit: KEYS_PER_APP_MAX }),
  ]);
  if (app === null) return refuseWithPage(context, { code: "app_unknown" });
  const saved = {
    ...settingsOf(app),
    starter_credits: String(app.starter_credits),
    origins: app.origins.join("\n"),
    upstream_providers: app.upstream_providers.join(" "),
    daily_starter_budget: String(app.daily_starter_budget ?? ""),
    max_overage_percent: String(app.max_overage_percent ?? ""),
    version: String(app.version),
  };
  const typed = settings && isLost(settings) ? besideSaved(settings, saved) : settings;
  return context.html(
    <AppPage
      app={app}
      keys={keys.ok ? keys.value : []}
      settings={typed?.form ?? emptyForm(saved)}
      new_key={new_key?.form ?? emptyForm()}
      made={made ?? null}
      notice={doneWords(context.req.query("notice"))}
    />,
    settings?.status ?? new_key?.status ?? 200,
  );
}
