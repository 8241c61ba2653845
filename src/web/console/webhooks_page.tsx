/** The webhooks of an app, a webhook's page with its deliveries, and their forms. */
import type { SubscribableEvent } from "../../domain/webhook.ts";
import { SUBSCRIBABLE_EVENTS } from "../../domain/webhook.ts";
import type { DeliveryPage } from "../../http/api/admin/webhooks/deliver.ts";
import type { Webhook } from "../../http/api/admin/webhooks/views.ts";
import { Choice, FieldProblem } from "../device/fields.tsx";
import { NoticeLine, Page } from "../layout/layout.tsx";
import { Time } from "../layout/time.tsx";
import { appPath, type AppRecord } from "./apps_page.tsx";
import { ActionForm, Choices, Field, FormPage, Reason, titleOf, type FormState } from "./form.tsx";
import { Panel } from "./panel.tsx";
import { ForRole, mayAct } from "./permission.tsx";
import { accountPath, consolePath, Pager, Table } from "./table.tsx";

type App = Pick<AppRecord, "slug" | "name">;

export const webhookPath = (slug: string, id?: string, part = ""): string =>
  appPath(slug, id === undefined ? "/webhooks" : `/webhooks/${encodeURIComponent(id)}${part}`);

/** The name of an event's checkbox. */
export const eventField = (event: SubscribableEvent): string => `event-${event}`;

interface WebhooksPageProps {
  readonly app: App;
  readonly webhooks: readonly Webhook[];
  readonly form: FormState;
  readonly notice: string | null;
}

export function WebhooksPage({ app, webhooks, form, notice }: WebhooksPageProps) {
  return (
    <Page
      title={titleOf(`Webhooks: ${app.name}`, form)}
      section="apps"
      scripts={["times.js", "forms.js"]}
    >
      <NoticeLine notice={notice} />
      <div class="page-head">
        <h1>Webhooks</h1>
        <a href={appPath(app.slug)}>{app.name}</a>
      </div>
      <section class="panel" aria-label="Webhooks">
        <Table
          label="Webhooks of the app"
          columns={["Webhook", "State", "Last success", "Last error"]}
          rows={webhooks.map((webhook) => [
            <>
              <a href={webhookPath(app.slug, webhook.id)}>{webhook.id}</a>
              <span class="hint below cut">{webhook.url}</span>
            </>,
            <State {...webhook} />,
            <TimeOrNever at_ms={webhook.last_success_at_ms} />,
            <LastError {...webhook} />,
          ])}
          empty="This app has no webhook yet. A webhook tells the app’s server when a job ends, credits run low, or credits are bought."
        />
      </section>
      <Panel id="new" title="Add a webhook">
        <ActionForm action={webhookPath(app.slug)} form={form} button="Add" role="admin">
          <Field
            form={form}
            name="id"
            label="Id"
            spellcheck={false}
            hint="Such as main. You cannot change it later."
          />
          <Settings form={form} />
        </ActionForm>
      </Panel>
    </Page>
  );
}

function State({ paused_at_ms, paused_reason }: Webhook) {
  if (paused_at_ms === null) return <span class="tag is-good">active</span>;
  return (
    <>
      <span class="tag is-bad">paused</span>
      <span class="hint below">
        since <Time at_ms={paused_at_ms} />{" "}
        {paused_reason === null ? "by its owner" : paused_reason}
      </span>
    </>
  );
}

function TimeOrNever({ at_ms }: { at_ms: number | null }) {
  return at_ms === null ? <>never</> : <Time at_ms={at_ms} />;
}

function LastError({ last_error, last_error_at_ms }: Webhook) {
  if (last_error === null || last_error_at_ms === null) return <>–</>;
  return (
    <>
      {last_error}
      <span class="hint below">
        <Time at_ms={last_error_at_ms} />
      </span>
    </>
  );
}

function Settings({ form }: { form: FormState }) {
  const problem = form.problems["events"];
  return (
    <>
      <Field
        form={form}
        name="url"
        label="Address"
        inputmode="url"
        spellcheck={false}
        hint="Begins with https:// and has a public host name. Events are sent there as Standard Webhooks."
      />
      <fieldset {...(problem === undefined ? {} : { "aria-describedby": "events-problem" })}>
        <legend>Events</legend>
        <FieldProblem id="events-problem" problem={problem} />
        {SUBSCRIBABLE_EVENTS.map((event, at) => (
          <Choice
            type="checkbox"
            id={at === 0 ? "events" : undefined}
            name={eventField(event)}
            value="yes"
            checked={form.values[eventField(event)] === "yes"}
          >
            <code>{event}</code>
          </Choice>
        ))}
      </fieldset>
      <Field
        form={form}
        name="thresholds"
        label="Balances for credits.low"
        spellcheck={false}
        hint="Credits, separated by blanks, such as 20 100. An event is sent when a balance falls to one of them."
      />
      <Choices
        form={form}
        name="active"
        legend="Delivery"
        options={[
          ["yes", "Send events, from where it stopped"],
          ["no", "Pause; events are kept"],
        ]}
      />
      <Reason form={form} hint="Optional. This is kept in the audit log." />
    </>
  );
}

/** What a form of the page has just done. */
export type Done =
  | { readonly kind: "created" | "rotated"; readonly secret: string | null }
  | {
      readonly kind: "tested";
      readonly status: number | null;
      readonly duration_ms: number;
      readonly reason: string | null;
    };

export interface WebhookPageProps extends DeliveryPage {
  readonly app: App;
  readonly webhook: Webhook;
  readonly status: "pending" | "failed" | undefined;
  readonly cursor: string | null;
  readonly settings: FormState;
  readonly replay: FormState;
  readonly act: FormState;
  readonly done: Done | null;
  readonly notice: string | null;
}

export function WebhookPage(props: WebhookPageProps) {
  const { app, webhook, settings, replay, act, done, notice } = props;
  const path = (part = ""): string => webhookPath(app.slug, webhook.id, part);
  return (
    <Page
      title={titleOf(`${webhook.id}: ${app.name}`, settings, replay, act)}
      section="apps"
      scripts={["times.js", "forms.js"]}
    >
      <NoticeLine notice={notice} />
      <div class="page-head">
        <h1 class="cut">{webhook.id}</h1>
        <span>
          <a href={appPath(app.slug)}>{app.name}</a>
          {" · "}
          <a href={webhookPath(app.slug)}>Webhooks</a>
        </span>
      </div>
      {done === null ? null : <DoneMessage {...done} />}
      <Panel id="state" title="State">
        <p>
          <State {...webhook} />
        </p>
        <p class="hint">
          Last success <TimeOrNever at_ms={webhook.last_success_at_ms} />. Last error{" "}
          <LastError {...webhook} />
        </p>
        <ForRole role="admin" action="Testing or deleting a webhook">
          <ActionForm action={path("/test")} form={act} button="Send a test">
            <p class="hint">Sends the event ping once, and shows how the receiver responds.</p>
          </ActionForm>
        </ForRole>
      </Panel>
      <Deliveries {...props} />
      <div class="columns">
        <Panel id="settings" title="Settings">
          <ActionForm action={path()} form={settings} button="Save" role="admin">
            <Settings form={settings} />
          </ActionForm>
        </Panel>
        {mayAct("admin") ? (
          <div>
            <Panel id="replay" title="Send events again">
              <ActionForm action={path("/replay")} form={replay} button="Send again">
                <Field
                  form={replay}
                  name="identity_id"
                  label="Account"
                  spellcheck={false}
                  hint="The identity or e-mail address of its holder."
                />
                <Field
                  form={replay}
                  name="after_line"
                  label="After entry"
                  inputmode="numeric"
                  hint="Sends the events of later entries of its ledger. 0 for all."
                />
              </ActionForm>
            </Panel>
            <Panel id="secret" title="Secret">
              <p class="hint">
                A new secret signs within a minute. The previous one signs too for 24 hours.
              </p>
              <ActionForm action={path("/rotate")} form={act} button="Replace the secret">
                {null}
              </ActionForm>
              <p>
                <a class="button quiet small" href={path("/delete")}>
                  Delete this webhook
                </a>
              </p>
            </Panel>
          </div>
        ) : null}
      </div>
    </Page>
  );
}

function DoneMessage(done: Done) {
  if (done.kind === "tested") {
    return (
      <p class={done.reason === null ? "notice" : "problem"} role="status">
        {done.reason === null
          ? `The receiver accepted the test with status ${done.status} after ${done.duration_ms} ms.`
          : `The receiver did not accept the test: ${done.reason}, after ${done.duration_ms} ms.`}
      </p>
    );
  }
  return (
    <div class="made" role="status">
      {done.secret === null ? (
        <p>
          This form was already sent, and the secret was shown then. If you did not save it, replace
          the secret.
        </p>
      ) : (
        <>
          <p>
            <strong>This is the webhook’s secret. It is shown only once.</strong> Click it to select
            it, copy it, and store it with your server’s secrets.
          </p>
          <p>
            <code class="secret" tabindex={0}>
              {done.secret}
            </code>
          </p>
        </>
      )}
    </div>
  );
}

function Deliveries({ app, webhook, deliveries, next_cursor, status, cursor }: WebhookPageProps) {
  const path = webhookPath(app.slug, webhook.id);
  return (
    <Panel
      id="deliveries"
      title="Waiting deliveries"
      aside={
        status === "pending" ? (
          <a href={path}>Show all</a>
        ) : (
          <a href={consolePath(path, { status: "pending" })}>Only those that will be tried again</a>
        )
      }
    >
      <Table
        label="Events that were not delivered, one for each account"
        columns={["Event", "Account", { amount: "Tries" }, "Last try", "Next try"]}
        rows={deliveries.map((delivery) => [
          <>
            <code>{delivery.type}</code>
            <span class="hint below">after entry {delivery.line}</span>
          </>,
          <a href={accountPath(delivery.identity_id)} class="cut">
            {delivery.identity_id}
          </a>,
          String(delivery.attempts),
          <>
            <Time at_ms={Date.parse(delivery.at)} />
            <span class="hint below">{delivery.last_error ?? "not tried yet"}</span>
          </>,
          delivery.retry_at === null ? (
            <span class="tag is-bad">when it is active</span>
          ) : (
            <Time at_ms={Date.parse(delivery.retry_at)} />
          ),
        ])}
        empty="Every event was delivered."
      />
      <Pager path={path} filters={{ status }} {...{ cursor, next_cursor }} />
    </Panel>
  );
}

interface DeleteWebhookPageProps {
  readonly app: App;
  readonly webhook: Webhook;
  readonly form: FormState;
}

export function DeleteWebhookPage({ app, webhook, form }: DeleteWebhookPageProps) {
  const back = webhookPath(app.slug, webhook.id);
  return (
    <FormPage
      title={`Delete the webhook “${webhook.id}”?`}
      section="apps"
      about={{ href: back, name: `${app.name}: ${webhook.id}` }}
      form={form}
    >
      <p>Nothing is sent to it any more, and events that were not delivered are lost.</p>
      <ActionForm action={`${back}/delete`} form={form} button="Delete" danger back={back}>
        <Reason form={form} hint="Optional. This is kept in the audit log." />
      </ActionForm>
    </FormPage>
  );
}
