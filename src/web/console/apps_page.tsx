/** The registered apps, and one with its settings and keys. */
import { Page } from "../layout/layout.tsx";
import { Time } from "../layout/time.tsx";
import { credits, number } from "../layout/account_words.ts";
import { ActForm, Choices, Field, FormPage, Reason, titleOf, type FormState } from "./form.tsx";
import { Panel } from "./panel.tsx";
import { consoleAddress, Pager, Table } from "./table.tsx";
import { ON_EXPIRY_NAMES, SETTLE_NAMES } from "./words.ts";

export interface ShownAppRecord {
  readonly slug: string;
  readonly name: string;
  readonly starter_credits: number;
  readonly daily_starter_budget: number | null;
  readonly origins: readonly string[];
  readonly settle: keyof typeof SETTLE_NAMES;
  readonly max_overage_percent: number | null;
  readonly upstream_providers: readonly string[];
  readonly version: number;
}

interface AppsPageProps {
  readonly apps: readonly ShownAppRecord[];
  readonly cursor: string | null;
  readonly next_cursor: string | undefined;
}

export const appAddress = (slug: string, part = ""): string =>
  `/console/apps/${encodeURIComponent(slug)}${part}`;

export function AppsPage({ apps, cursor, next_cursor }: AppsPageProps) {
  return (
    <Page title="Apps" section="apps">
      <div class="page-head">
        <h1>Apps</h1>
        <a class="button small" href="/console/new-app">
          Register an app
        </a>
      </div>
      <section class="panel" aria-label="Apps">
        <Table
          label="Registered apps"
          columns={["App", { amount: "Starter credits" }, { amount: "A day at most" }, "Settles"]}
          rows={apps.map((app) => [
            <>
              <a href={appAddress(app.slug)}>{app.name}</a>
              <span class="hint below">
                <code>{app.slug}</code>
                {app.origins.length === 0 ? null : ` · ${app.origins.join(", ")}`}
              </span>
            </>,
            number(app.starter_credits),
            app.daily_starter_budget === null ? "no bound" : number(app.daily_starter_budget),
            app.settle === "app" ? "its key alone" : "the account",
          ])}
          empty="No app is registered. Only a registered one gives starter credits, has a name, and may act from its own origins."
        />
      </section>
      <Pager path="/console/apps" filters={{}} {...{ cursor, next_cursor }} />
    </Page>
  );
}

/** A form that registers an app. */
export function NewAppPage({ form }: { form: FormState }) {
  return (
    <FormPage title="Register an app" section="apps" form={form}>
      <ActForm action="/console/new-app" form={form} button="Register" back="/console/apps">
        <Field
          form={form}
          name="slug"
          label="Slug"
          hint="The name by which programs know it, such as sketch. It cannot be changed later."
        />
        <Settings form={form} />
      </ActForm>
    </FormPage>
  );
}

function Settings({ form }: { form: FormState }) {
  return (
    <>
      <Field form={form} name="name" label="Name" hint="What people read." />
      <Field
        form={form}
        name="starter_credits"
        label="Starter credits"
        inputmode="numeric"
        hint="What each account gets once, when it first uses the app."
      />
      <Field
        form={form}
        name="daily_starter_budget"
        label="Starter credits a day, at most"
        inputmode="numeric"
        hint="For all accounts together, by UTC days. Leave it empty for no bound."
      />
      <Field
        form={form}
        name="origins"
        label="Origins"
        rows={3}
        spellcheck={false}
        hint="One a line, such as https://app.example.com or myapp://callback. They may act with people’s cookies."
      />
      <Choices
        form={form}
        name="settle"
        legend="Who ends its jobs"
        options={Object.entries(SETTLE_NAMES)}
      />
      <Choices
        form={form}
        name="on_expiry"
        legend="When nobody ends a job in time"
        options={Object.entries(ON_EXPIRY_NAMES)}
      />
      <Field
        form={form}
        name="max_overage_percent"
        label="Cost above the estimate, at most, in percent"
        inputmode="numeric"
        hint="A job that would cost more cannot be completed; at an estimate of 0 it may cost nothing. Leave it empty for no limit."
      />
      <Field
        form={form}
        name="upstream_providers"
        label="Upstream tokens"
        spellcheck={false}
        hint="Ids of the sign-in providers whose tokens its pages get, such as google. Leave it empty for none."
      />
      <Reason form={form} hint="For the audit log; may be empty." />
    </>
  );
}

export interface AppKeyLine {
  readonly id: string;
  readonly label: string;
  readonly created_at_ms: number;
}

/** A key just made. `key`: null where the same form had made it before. */
export interface MadeKey {
  readonly label: string;
  readonly key: string | null;
}

export interface AppPageProps {
  readonly app: ShownAppRecord;
  readonly keys: readonly AppKeyLine[];
  readonly settings: FormState;
  readonly new_key: FormState;
  readonly made: MadeKey | null;
  readonly notice: string | null;
}

export function AppPage(props: AppPageProps) {
  const { app, settings, new_key, notice } = props;
  return (
    <Page
      title={titleOf(app.name, settings, new_key)}
      section="apps"
      scripts={["times.js", "forms.js"]}
    >
      {notice === null ? null : (
        <p class="notice" role="status">
          {notice}
        </p>
      )}
      <div class="page-head">
        <h1 class="cut">{app.name}</h1>
        <span>
          <a href={consoleAddress("/console", { app: app.slug })}>Its totals</a>
          {" · "}
          <a href={consoleAddress("/console/jobs", { app: app.slug })}>Its jobs</a>
          {" · "}
          <a href={consoleAddress("/console/audit", { subject: app.slug })}>What was changed</a>
        </span>
      </div>
      <div class="columns">
        <Panel id="settings" title="Settings">
          <p class="hint">
            Slug <code>{app.slug}</code>. New accounts get {credits(app.starter_credits)}.
          </p>
          <ActForm action={appAddress(app.slug, "/settings")} form={settings} button="Save">
            <input type="hidden" name="version" value={settings.values["version"] ?? ""} />
            <Settings form={settings} />
          </ActForm>
        </Panel>
        <Keys {...props} />
      </div>
    </Page>
  );
}

function Keys({ app, keys, new_key, made }: AppPageProps) {
  return (
    <Panel id="keys" title="Keys of its servers">
      {made === null ? null : <Made {...made} />}
      {keys.length === 0 ? <p class="hint">It has no key.</p> : null}
      <ul class="rows">
        {keys.map(({ id, label, created_at_ms }) => (
          <li>
            <span>
              <strong>{label}</strong>
              <span class="hint below">
                since <Time at_ms={created_at_ms} style="day" />
              </span>
            </span>
            <a
              class="button quiet small"
              href={consoleAddress(appAddress(app.slug, "/revoke-key"), { key_id: id })}
            >
              Revoke<span class="unseen">{` ${label}`}</span>
            </a>
          </li>
        ))}
      </ul>
      <h3>Add a key</h3>
      <ActForm action={appAddress(app.slug, "/keys")} form={new_key} button="Add a key">
        <Field
          form={new_key}
          name="label"
          label="Label"
          hint="Where it is used, such as “render server”."
        />
      </ActForm>
    </Panel>
  );
}

function Made({ label, key }: MadeKey) {
  return (
    <div class="made" role="status">
      {key === null ? (
        <p>
          The key “{label}” was made by this form before, and was shown then. If you did not keep
          it, revoke it and add another.
        </p>
      ) : (
        <>
          <p>
            <strong>The key “{label}”, shown this once.</strong> Select it with one click, copy it,
            and keep it where your server keeps its secrets.
          </p>
          <p>
            <code class="secret" tabindex={0}>
              {key}
            </code>
          </p>
        </>
      )}
    </div>
  );
}

interface RevokeKeyPageProps {
  readonly app: Pick<ShownAppRecord, "slug" | "name">;
  readonly label: string;
  readonly form: FormState;
}

export function RevokeKeyPage({ app, label, form }: RevokeKeyPageProps) {
  return (
    <FormPage
      title={`Revoke the key “${label}”?`}
      section="apps"
      about={{ href: appAddress(app.slug), name: app.name }}
      form={form}
    >
      <p>
        Servers that use it are refused everywhere within a minute. That cannot be taken back: add
        another key first where they are to go on.
      </p>
      <ActForm
        action={appAddress(app.slug, "/revoke-key")}
        form={form}
        button="Revoke"
        danger
        back={appAddress(app.slug)}
      >
        <input type="hidden" name="key_id" value={form.values["key_id"] ?? ""} />
        <Reason form={form} hint="For the audit log; may be empty." />
      </ActForm>
    </FormPage>
  );
}
