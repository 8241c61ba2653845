/** The list of registered apps, and an app's page with its settings and keys. */
import type { Services } from "../../http/services.ts";
import type { readApps } from "../../http/api/admin/apps/list.ts";
import { FIRST_TO_READ, NoticeLine, Page } from "../layout/layout.tsx";
import { AppIcon } from "../layout/app_icon.tsx";
import { CAP_PERIODS } from "../../domain/spending_cap.ts";
import { PERIOD_NAMES } from "../device/cap_choice.tsx";
import { Time, timeText } from "../layout/time.tsx";
import { credits, number } from "../layout/labels.ts";
import { ActionForm, Choices, Field, FormPage, Reason, titleOf, type FormState } from "./form.tsx";
import { MadeSecret } from "./made_secret.tsx";
import { Panel } from "./panel.tsx";
import { ForRole, mayAct } from "./permission.tsx";
import { consolePath, Pager, Table } from "./table.tsx";
import { ON_EXPIRY_NAMES, SETTLE_NAMES } from "./labels.ts";

export type ListedApp = Awaited<ReturnType<typeof readApps>>["apps"][number];
export type AppRecord = Omit<ListedApp, "granted_today">;

interface AppsPageProps {
  readonly apps: readonly ListedApp[];
  readonly cursor: string | null;
  readonly next_cursor: string | undefined;
}

export const appPath = (slug: string, part = ""): string =>
  `/console/apps/${encodeURIComponent(slug)}${part}`;

export function AppsPage({ apps, cursor, next_cursor }: AppsPageProps) {
  return (
    <Page title="Apps" section="apps">
      <div class="page-head">
        <h1>Apps</h1>
        <ForRole role="admin" action="Registering an app">
          <a class="button small" href="/console/new-app">
            Register an app
          </a>
        </ForRole>
      </div>
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
              <a href={appPath(app.slug)}>{app.name}</a>
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
    </Page>
  );
}

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

export function NewAppPage({ form }: { form: FormState }) {
  return (
    <FormPage title="Register an app" section="apps" form={form}>
      <ActionForm action="/console/new-app" form={form} button="Register" back="/console/apps">
        <Field
          form={form}
          name="slug"
          label="Slug"
          hint="The app’s id in the API, such as sketch. You cannot change it later."
        />
        <Settings form={form} />
      </ActionForm>
    </FormPage>
  );
}

function Settings({ form }: { form: FormState }) {
  return (
    <>
      <Field form={form} name="name" label="Name" hint="The name that people see." />
      <Field
        form={form}
        name="icon"
        label="Icon"
        inputmode="url"
        spellcheck={false}
        hint="An https address of a PNG, JPEG, WebP or ICO picture of at most 64 KiB. Pages show a copy of it. Leave it empty for none."
      />
      <Field
        form={form}
        name="color"
        label="Colour"
        spellcheck={false}
        hint="Such as #12507b. Without an icon, pages show the first letter of the name on it. Leave it empty for none."
      />
      <Field
        form={form}
        name="starter_credits"
        label="Starter credits"
        inputmode="numeric"
        hint="Each account gets these once, when it first uses the app."
      />
      <Field
        form={form}
        name="daily_starter_budget"
        label="Daily limit of starter credits"
        inputmode="numeric"
        hint="For all accounts together, per UTC day. Leave it empty for no limit."
      />
      <Field
        form={form}
        name="starter_excluded_domains"
        label="E-mail domains without starter credits"
        rows={3}
        spellcheck={false}
        hint="One per line, such as mailinator.com. Subdomains count too. If you list any, people without a verified e-mail address get none either."
      />
      <Field
        form={form}
        name="origins"
        label="Origins"
        rows={3}
        spellcheck={false}
        hint="One per line, such as https://app.example.com or myapp://callback. Pages on these origins can call the API as the person who is signed in."
      />
      <Choices
        form={form}
        name="settle"
        legend="Who can complete and fail its jobs"
        options={Object.entries(SETTLE_NAMES)}
      />
      <Choices
        form={form}
        name="on_expiry"
        legend="When a job times out"
        options={Object.entries(ON_EXPIRY_NAMES)}
      />
      <Field
        form={form}
        name="max_overage_percent"
        label="Largest cost above the estimate, in percent"
        inputmode="numeric"
        hint="A job that costs more cannot be completed. If its estimate is 0, it must cost 0. Leave it empty for no limit."
      />
      <Field
        form={form}
        name="upstream_providers"
        label="Access tokens of other providers"
        spellcheck={false}
        hint="Ids of sign-in providers, such as google. The app’s pages can get the signed-in person’s access tokens for them. Leave it empty for none."
      />
      <SuggestedLimit form={form} />
      <Reason form={form} hint="Optional. This is kept in the audit log." />
    </>
  );
}

/** The credits and the period, as on the page where a person approves a device. */
function SuggestedLimit({ form }: { form: FormState }) {
  return (
    <>
      <Field
        form={form}
        name="suggested_cap"
        label="Suggested limit, in credits"
        inputmode="numeric"
        hint="The limit that people start with when they connect a device or a client of this app. They can change it. If it is empty, they start with 50 in total."
      />
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

type ListedKeys = Awaited<ReturnType<Services["app_records"]["listKeys"]>>;

/** A key that was just added. `key`: null if the form had already been sent, because a key is shown only once. */
export interface AddedKey {
  readonly label: string;
  readonly key: string | null;
}

export interface AppPageProps {
  readonly app: AppRecord;
  readonly keys: Extract<ListedKeys, { ok: true }>["value"];
  readonly settings: FormState;
  readonly new_key: FormState;
  readonly added: AddedKey | null;
  readonly notice: string | null;
}

export function AppPage(props: AppPageProps) {
  const { app, settings, new_key, notice } = props;
  return (
    <Page
      title={titleOf(app.name, settings, new_key)}
      section="apps"
      scripts={["times.js", "forms.js", "copy.js"]}
    >
      <NoticeLine notice={notice} />
      <div class="page-head">
        <h1>
          <AppIcon look={app} size={32} /> {app.name}
        </h1>
        <span>
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
      </div>
      <div class="columns">
        <Panel id="settings" title="Settings">
          <p class="hint">
            Slug <code>{app.slug}</code>. New accounts get {credits(app.starter_credits)}.
          </p>
          <ActionForm
            action={appPath(app.slug, "/settings")}
            form={settings}
            button="Save"
            role="admin"
          >
            <input type="hidden" name="version" value={settings.values["version"] ?? ""} />
            <Settings form={settings} />
          </ActionForm>
        </Panel>
        <Keys {...props} />
      </div>
    </Page>
  );
}

function Keys({ app, keys, new_key, added }: AppPageProps) {
  return (
    <Panel id="keys" title="Server keys">
      {added === null ? null : <Added {...added} />}
      {keys.length === 0 ? <p class="hint">This app has no key.</p> : null}
      <ul class="rows">
        {keys.map(({ id, label, last_four, created_at_ms, last_used_at_ms }) => (
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
            {mayAct("admin") ? (
              <a
                class="button quiet small"
                href={consolePath(appPath(app.slug, "/revoke-key"), { key_id: id })}
              >
                Revoke<span class="unseen">{` ${label}, which ends with ${last_four}`}</span>
              </a>
            ) : null}
          </li>
        ))}
      </ul>
      <ForRole role="admin" action="Adding or revoking a key">
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

export function RevokeKeyPage({ app, key_record, form }: RevokeKeyPageProps) {
  const { label, last_four, created_at_ms, last_used_at_ms } = key_record;
  return (
    <FormPage
      title={`Revoke the key “${label}”?`}
      section="apps"
      about={{ href: appPath(app.slug), name: app.name }}
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
      <ActionForm
        action={appPath(app.slug, "/revoke-key")}
        form={form}
        button="Revoke"
        danger
        back={appPath(app.slug)}
      >
        <input type="hidden" name="key_id" value={form.values["key_id"] ?? ""} />
        <Reason form={form} hint="Optional. This is kept in the audit log." />
      </ActionForm>
    </FormPage>
  );
}
