/** `/console/apps`, `/console/new-app` and `/console/apps/{slug}`: the app registry and its forms. */
import { DEFAULT_POLICY } from "../../domain/app_policy.ts";
import { KEYS_PER_APP_MAX } from "../../domain/limits.ts";
import { accepted, refused } from "../../domain/result.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import type { Services } from "../../http/services.ts";
import { addAppKey, addAppKeyBody, revokeAppKey } from "../../operator/app_keys.ts";
import { listAppsQuery, readApps } from "../../operator/list_apps.ts";
import type { Webhook } from "../../operator/save_webhook.ts";
import { AppIcon } from "../layout/app_icon.tsx";
import { number } from "../layout/labels.ts";
import { FIRST_TO_READ } from "../layout/layout.tsx";
import { Time, timeText } from "../layout/time.tsx";
import { APP_FORM, APP_GROUPS, SUGGESTED_PERIOD } from "./app_form.tsx";
import { PausedNotice, PauseRow } from "./app_pause.tsx";
import { ConfirmationPage, confirmed } from "./confirmation.tsx";
import { ConsolePage } from "./console_page.tsx";
import { emptyForm, ActionForm, Field, FormPage, titleOf, type FormState } from "./form.tsx";
import { readForm, textOf, type FailedForm, check, invalid, submit } from "./forms.ts";
import { MadeSecret } from "./made_secret.tsx";
import { Panel, RowLink } from "./panel.tsx";
import { ForRole, mayAct } from "./permission.tsx";
import { cursorOf, readQuery, slugOf } from "./queries.ts";
import { ChangeForm, formOf, readRecordForm, submitRecord, RecordFields } from "./record_form.tsx";
import { appPath, consolePath, Pager, Table } from "./table.tsx";

/** Failing webhooks that the list of apps marks. */
const FAILING_READ_MAX = 1_000;

export const showApps = factory.createHandlers(async (context) => {
  const query = readQuery(context, listAppsQuery);
  const services = context.get("services");
  const [{ apps, next_cursor }, failing] = await Promise.all([
    readApps(services, query),
    services.webhook_records.listFailing(FAILING_READ_MAX),
  ]);
  const failing_apps = new Set(failing.map(({ app_slug }) => app_slug));
  const cursor = query.cursor === undefined ? null : cursorOf(context);
  return context.html(
    <ConsolePage
      title="Apps"
      section="apps"
      aside={
        <ForRole role="admin" action="Registering an app">
          <a class="button small" href="/console/new-app">
            Register an app
          </a>
        </ForRole>
      }
    >
      <section class="panel" aria-label="Apps">
        <Table
          label="Registered apps"
          columns={[
            "App",
            { amount: "Starter credits" },
            { amount: "Used today" },
            "Completes jobs",
          ]}
          rows={apps.map((app) => [
            <>
              <a href={appPath(app.slug)}>{app.name}</a>{" "}
              {app.paused_at_ms === null ? null : <span class="tag is-bad">paused</span>}
              {failing_apps.has(app.slug) ? (
                <a class="tag is-bad" href={appPath(app.slug, "/webhooks")}>
                  webhook failing
                </a>
              ) : null}
              <span class="hint below">
                <code>{app.slug}</code>
                {app.origins.length === 0 ? null : ` · ${app.origins.join(", ")}`}
              </span>
            </>,
            number(app.starter_credits),
            <UsedToday {...app} />,
            app.settle === "app" ? "app’s key" : "holder or key",
          ])}
          empty="No app is registered yet. Register an app to give it a name, starter credits and its own origins."
        />
      </section>
      <Pager path="/console/apps" filters={{}} {...{ cursor, next_cursor }} />
    </ConsolePage>,
  );
});

/** Suggests the starter credits that an unregistered slug has: 0, except in development. */
export const showNewApp = factory.createHandlers((context) => {
  const starter_credits = String(context.get("services").config.default_starter_credits);
  const { settle, on_expiry } = DEFAULT_POLICY;
  const suggested = { starter_credits, suggested_period: SUGGESTED_PERIOD };
  return context.html(<NewAppPage form={emptyForm({ settle, on_expiry, ...suggested })} />);
});

/** Registers an app. An app that is already registered can only be changed on its own page. */
export const registerApp = factory.createHandlers(async (context) => {
  const form = await readForm(context);
  const slug = textOf(form, "slug");
  const saved = await submitRecord(context, APP_FORM, { app_slug: slug, id: slug }, form);
  if (!saved.ok)
    return context.html(<NewAppPage form={saved.refusal.form} />, saved.refusal.status);
  return context.redirect(consolePath(appPath(slug), { notice: "app-saved" }), 303);
});

export const showApp = factory.createHandlers((context) => showAppPage(context, {}));

/** Saves the settings of one group. The form names it. */
export const saveSettings = factory.createHandlers(async (context) => {
  const slug = slugOf(context);
  const { app_records } = context.get("services");
  if ((await app_records.find(slug)) === null) {
    return refuseWithPage(context, { code: "app_not_found" });
  }
  const form = await readRecordForm(context);
  const group = APP_GROUPS.find(({ id }) => id === form.values["group"]);
  if (group === undefined) {
    const detail = "This form names no group of settings. Open the app’s page again.";
    return refuseWithPage(context, { code: "invalid_request", detail });
  }
  const saved = await submitRecord(context, group.form, { app_slug: slug, id: slug }, form);
  return saved.ok
    ? context.redirect(consolePath(appPath(slug), { notice: "app-saved" }), 303)
    : showAppPage(context, { settings: { ...saved.refusal, group: group.id } });
});

interface AppForms {
  readonly settings?: FailedForm & { readonly group: string };
  readonly new_key?: FailedForm;
  readonly added?: AddedKey;
}

/** The app that the path names, and its keys. */
async function readAppAndKeys(context: AppContext) {
  const slug = slugOf(context);
  const { app_records, webhook_records } = context.get("services");
  const [app, keys, webhooks] = await Promise.all([
    app_records.find(slug),
    app_records.listKeys(slug, { limit: KEYS_PER_APP_MAX }),
    webhook_records.list(slug),
  ]);
  if (app === null || !keys.ok) return null;
  const failing = webhooks.ok
    ? webhooks.value.filter((it) => it.failing_since_ms !== null && it.paused_at_ms === null)
    : [];
  return { app, keys: keys.value, failing_webhooks: failing };
}

/** The page of the app that the path names, with a form that failed or a key that was just added. */
async function showAppPage(
  context: AppContext,
  { settings, new_key, added }: AppForms,
): Promise<Response> {
  const read = await readAppAndKeys(context);
  if (read === null) return refuseWithPage(context, { code: "app_not_found" });
  return context.html(
    <AppPage
      {...read}
      settings={settings ?? null}
      new_key={new_key?.form ?? emptyForm()}
      added={added ?? null}
    />,
    settings?.status ?? new_key?.status ?? 200,
  );
}

type ListedApp = Awaited<ReturnType<typeof readApps>>["apps"][number];
export type AppRecord = Omit<ListedApp, "granted_today">;

/** The starter credits since midnight UTC, and the daily limit. */
function UsedToday({ granted_today, daily_starter_budget, starter_credits }: ListedApp) {
  const used = granted_today === null ? "–" : number(granted_today);
  if (daily_starter_budget === null) {
    return (
      <>
        {used}
        <span class="hint below">no limit</span>
      </>
    );
  }
  const is_used_up =
    granted_today !== null && granted_today + starter_credits > daily_starter_budget;
  return (
    <>
      {used} of {number(daily_starter_budget)}
      {is_used_up ? <span class="tag is-bad">used up</span> : null}
    </>
  );
}

function NewAppPage({ form }: { form: FormState }) {
  return (
    <FormPage title="Register an app" section="apps" form={form}>
      <ActionForm action="/console/new-app" form={form} button="Register" back="/console/apps">
        <RecordFields kind={APP_FORM} form={form} />
      </ActionForm>
    </FormPage>
  );
}

type ListedKeys = Awaited<ReturnType<Services["app_records"]["listKeys"]>>;

/** A key that was just added. `key`: null if the form had already been sent, because a key is shown only once. */
interface AddedKey {
  readonly label: string;
  readonly key: string | null;
}

interface AppPageProps {
  readonly app: AppRecord;
  readonly keys: Extract<ListedKeys, { ok: true }>["value"];
  readonly failing_webhooks: readonly Webhook[];
  /** The form of a group that failed. */
  readonly settings: AppForms["settings"] | null;
  readonly new_key: FormState;
  readonly added: AddedKey | null;
}

function AppPage(props: AppPageProps) {
  const { app, settings, new_key } = props;
  return (
    <ConsolePage
      title={titleOf(app.name, settings?.form ?? emptyForm(), new_key)}
      section="apps"
      scripts={["times.js", "forms.js", "copy.js"]}
      heading={
        <>
          <AppIcon look={app} size={32} /> {app.name}
        </>
      }
      aside={
        <span>
          <code>{app.slug}</code>
          {" · "}
          <a href={consolePath("/console", { app: app.slug })}>Totals</a>
          {" · "}
          <a href={consolePath("/console/jobs", { app: app.slug })}>Jobs</a>
          {" · "}
          <a href={consolePath("/console/audit", { subject: app.slug })}>Changes</a>
          {" · "}
          <a href={appPath(app.slug, "/oauth")}>OAuth</a>
          {" · "}
          <a href={appPath(app.slug, "/webhooks")}>Webhooks</a>
        </span>
      }
    >
      <PausedNotice app={app} />
      {props.failing_webhooks.map(({ id, failing_since_ms }) => (
        <p class="problem">
          The receiver of the webhook{" "}
          <a href={appPath(app.slug, `/webhooks/${encodeURIComponent(id)}`)}>{id}</a> has accepted
          nothing since <Time at_ms={failing_since_ms ?? 0} />. Events wait and are sent again.
        </p>
      ))}
      <nav class="sorts" aria-label="On this page">
        {SECTIONS.map(({ id, title }) => (
          <a href={`#${id}`}>{title}</a>
        ))}
      </nav>
      <div class="columns">
        <div class="main-column">
          {APP_GROUPS.map((group) => (
            <Settings group={group} app={app} failed={settings} />
          ))}
        </div>
        <div class="side-column">
          <Keys {...props} />
        </div>
      </div>
      <DangerZone {...props} />
    </ConsolePage>
  );
}

const SECTIONS = [
  ...APP_GROUPS,
  { id: "keys", title: "Server keys" },
  { id: "danger", title: "Danger zone" },
];

interface SettingsProps extends Pick<AppPageProps, "app"> {
  readonly group: (typeof APP_GROUPS)[number];
  readonly failed: AppPageProps["settings"];
}

/** The form of one group of settings. */
function Settings({ group: { id, title, form: kind }, app, failed }: SettingsProps) {
  const form = failed?.group === id ? failed.form : formOf(kind, app);
  const own = { ...form, ids: { reason: `${id}-reason` } };
  return (
    <Panel id={id} title={title}>
      <ChangeForm
        kind={kind}
        action={appPath(app.slug, "/settings")}
        form={own}
        button={`Save ${title.toLowerCase()}`}
      >
        <input type="hidden" name="group" value={id} />
      </ChangeForm>
    </Panel>
  );
}

/** Everything that stops or removes something, with its consequence. */
function DangerZone({ app, keys }: AppPageProps) {
  return (
    <Panel id="danger" title="Danger zone" class="danger-zone">
      <ul class="rows">
        <PauseRow app={app} />
        {keys.map(({ id, label, last_four }) => (
          <li>
            <span>
              <strong>Revoke the key “{label}”</strong>
              <span class="hint below">
                It ends with <code>{last_four}</code>. Servers that use it lose access within a
                minute. This cannot be undone.
              </span>
            </span>
            {mayAct("admin") ? (
              <RowLink
                href={consolePath(appPath(app.slug, "/revoke-key"), { key_id: id })}
                text="Revoke"
                about={`${label}, which ends with ${last_four}`}
              />
            ) : null}
          </li>
        ))}
        <li>
          <span>
            <strong>Delete a webhook, an OAuth client or a resource</strong>
            <span class="hint below">
              Its own page says what stops working:{" "}
              <a href={appPath(app.slug, "/webhooks")}>Webhooks</a> and{" "}
              <a href={appPath(app.slug, "/oauth")}>OAuth</a>.
            </span>
          </span>
        </li>
      </ul>
      <ForRole role="admin" action="Each of these">
        {null}
      </ForRole>
    </Panel>
  );
}

function Keys({ app, keys, new_key, added }: AppPageProps) {
  return (
    <Panel id="keys" title="Server keys">
      {added === null ? null : <Added {...added} />}
      {keys.length === 0 ? <p class="hint">This app has no key.</p> : null}
      <ul class="rows">
        {keys.map(({ label, last_four, created_at_ms, last_used_at_ms }) => (
          <li>
            <span>
              <strong>{label}</strong>
              <span class="hint below">
                ends with <code>{last_four}</code>
                {" · "}since <Time at_ms={created_at_ms} style="day" />
                {/* Text, because scripts would change the start of a UTC day to the day before it. */}
                {last_used_at_ms === null
                  ? " · never used"
                  : ` · last used ${timeText(last_used_at_ms, "day")} (UTC)`}
              </span>
            </span>
          </li>
        ))}
      </ul>
      <ForRole role="admin" action="Adding a key">
        <h3>Add a key</h3>
        <ActionForm action={appPath(app.slug, "/keys")} form={new_key} button="Add a key">
          <Field
            form={new_key}
            name="label"
            label="Label"
            hint="Where the key is used, such as “render server”."
          />
        </ActionForm>
      </ForRole>
    </Panel>
  );
}

function Added({ label, key }: AddedKey) {
  return (
    <div class="made" role="status" {...FIRST_TO_READ}>
      <MadeSecret name={`the key “${label}”`} secret={key} otherwise="revoke it and add another" />
    </div>
  );
}

interface RevokeKeyPageProps {
  readonly app: Pick<AppRecord, "slug" | "name">;
  readonly key_record: AppPageProps["keys"][number];
  readonly form: FormState;
}

function RevokeKeyPage({ app, key_record, form }: RevokeKeyPageProps) {
  const { label, last_four, created_at_ms, last_used_at_ms } = key_record;
  return (
    <ConfirmationPage
      title={`Revoke the key “${label}”?`}
      about={{ href: appPath(app.slug), name: app.name }}
      action={appPath(app.slug, "/revoke-key")}
      button="Revoke"
      back={appPath(app.slug)}
      named_by="key_id"
      form={form}
    >
      <dl class="facts">
        <dt>Ends with</dt>
        <dd>
          <code>{last_four}</code>
        </dd>
        <dt>Added</dt>
        <dd>
          <Time at_ms={created_at_ms} />
        </dd>
        <dt>Last used</dt>
        <dd>{last_used_at_ms === null ? "never" : `${timeText(last_used_at_ms, "day")} (UTC)`}</dd>
      </dl>
      <p>
        Servers that use this key lose access within a minute. This cannot be undone. If they should
        keep working, add another key first.
      </p>
    </ConfirmationPage>
  );
}

/** Shows the key in this response only. A redirect would need the key in its URL. */
export const addKey = factory.createHandlers(async (context) => {
  const form = await readForm(context);
  const checked = check(addAppKeyBody, { label: textOf(form, "label") }, { label: "The label" });
  if (!checked.ok) return showAppPage(context, { new_key: invalid(form, checked.refusal) });
  const request = { ...checked.value, key: form.key };
  const added = await submit(
    context,
    form,
    (acting) => addAppKey(acting, slugOf(context), request),
    { limit_reached: "label", app_key_label_taken: "label" },
  );
  return showAppPage(context, added.ok ? { added: added.value } : { new_key: added.refusal });
});

export const revocation = confirmed({
  named_by: "key_id",
  async read(context, form) {
    const read = await readAppAndKeys(context);
    if (read === null) return refused({ code: "app_not_found" });
    const key_record = read.keys.find(({ id }) => id === form.values["key_id"]);
    if (key_record === undefined) return refused({ code: "app_key_not_found" });
    return accepted({ app: read.app, key_record });
  },
  page: (subject, form) => <RevokeKeyPage {...subject} form={form} />,
  perform: (acting, context, form, request) =>
    revokeAppKey(acting, slugOf(context), textOf(form, "key_id"), request),
  done: (context) =>
    context.redirect(consolePath(appPath(slugOf(context)), { notice: "key-revoked" }), 303),
});
