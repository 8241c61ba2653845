/** The webhooks of an app, a webhook's page with its deliveries, and their forms. */
import type { SubscribableEvent } from "../../domain/webhook.ts";
import { SUBSCRIBABLE_EVENTS } from "../../domain/webhook.ts";
import type { DeliveryPage } from "../../http/api/admin/webhooks/deliver.ts";
import type { Webhook } from "../../http/api/admin/webhooks/views.ts";
import { Choice, FieldProblem } from "../device/fields.tsx";
import { FIRST_TO_READ, NoticeLine, Page } from "../layout/layout.tsx";
import { Time } from "../layout/time.tsx";
import { appPath, type AppRecord } from "./apps_page.tsx";
import { ActionForm, Choices, Field, Reason, titleOf, type FormState } from "./form.tsx";
import { MadeSecret } from "./made_secret.tsx";
import { Panel } from "./panel.tsx";
import { ForRole, mayAct } from "./permission.tsx";
import { accountPath, consolePath, Pager, Table } from "./table.tsx";

type App = Pick<AppRecord, "slug" | "name">;

export const webhookPath = (slug: string, id?: string, part = ""): string =>
  appPath(slug, id === undefined ? "/webhooks" : `/webhooks/${encodeURIComponent(id)}${part}`);

export const KEPT = "Optional. This is kept in the audit log.";

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
              <span class="hint below">{webhook.url}</span>
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
          <input type="hidden" name="active" value="yes" />
          <Settings form={form} />
          <Reason form={form} hint={KEPT} />
        </ActionForm>
      </Panel>
    </Page>
  );
}

/** A success is recorded to the minute. */
const isFailing = ({ last_success_at_ms, last_error_at_ms }: Webhook): boolean =>
  (last_error_at_ms ?? 0) - (last_success_at_ms ?? 0) >= 60_000;

function State(webhook: Webhook) {
  const { paused_at_ms, paused_reason } = webhook;
  if (paused_at_ms === null && isFailing(webhook)) {
    return (
      <>
        <span class="tag is-bad">failing</span>
        <span class="hint below">Events wait and are sent again.</span>
      </>
    );
  }
  if (paused_at_ms === null) return <span class="tag is-good">active</span>;
  return (
    <>
      <span class="tag is-bad">paused</span>
      <span class="hint below">
        since <Time at_ms={paused_at_ms} />{" "}
        {paused_reason === null ? "by an operator or the app" : errorText(paused_reason)}
      </span>
    </>
  );
}

/** Why an attempt failed, in words: its response's status is `status_500`. */
const errorText = (reason: string): string =>
  reason
    .replace(/^status_(\d+)$/, "status $1")
    .replace(/^timeout$/, "no response in time")
    .replace(/^unreachable$/, "no connection");

function TimeOrNever({ at_ms }: { at_ms: number | null }) {
  return at_ms === null ? <>never</> : <Time at_ms={at_ms} />;
}

function LastError({ last_error, last_error_at_ms }: Webhook) {
  if (last_error === null || last_error_at_ms === null) return <>none</>;
  return (
    <>
      {errorText(last_error)}
      <span class="hint below">
        <Time at_ms={last_error_at_ms} />
      </span>
    </>
  );
}

const EVENT_TEXTS = {
  "job.created": "A job started",
  "job.completed": "A job was completed",
  "job.failed": "A job failed",
  "job.expired": "A job timed out or was cancelled",
  "credits.granted": "Credits were granted or refunded",
  "credits.low": "The balance fell to one of the numbers below",
  "credits.refused": "A request needed more credits than there were",
  "purchase.completed": "Credits were bought",
  "purchase.refunded": "A purchase was refunded or disputed",
  "account.deleted": "The account was deleted",
} as const satisfies Readonly<Record<SubscribableEvent, string>>;

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
            {EVENT_TEXTS[event]} <code class="hint">{event}</code>
          </Choice>
        ))}
      </fieldset>
      <Field
        form={form}
        name="thresholds"
        label="Balances for credits.low"
        spellcheck={false}
        hint="Credits, separated by spaces, such as 20 100. The event is sent when a balance falls to one of them."
      />
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
      scripts={["times.js", "forms.js", "copy.js"]}
    >
      <NoticeLine notice={notice} />
      <div class="page-head">
        <h1>Webhook “{webhook.id}”</h1>
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
        <dl class="facts">
          <dt>Address</dt>
          <dd>{webhook.url}</dd>
          <dt>Last success</dt>
          <dd>
            <TimeOrNever at_ms={webhook.last_success_at_ms} />
          </dd>
          <dt>Last error</dt>
          <dd>
            <LastError {...webhook} />
          </dd>
        </dl>
        <ForRole role="admin" action="Testing or deleting a webhook">
          <ActionForm action={path("/test")} form={act} button="Send a test">
            <p class="hint">
              Sends the event <code>ping</code> once, and shows how the receiver responds.
            </p>
          </ActionForm>
        </ForRole>
      </Panel>
      <Deliveries {...props} />
      <div class="columns">
        <Panel id="settings" title="Settings">
          <ActionForm action={path()} form={settings} button="Save" role="admin">
            <input type="hidden" name="version" value={settings.values["version"] ?? ""} />
            <Settings form={settings} />
            <Choices
              form={settings}
              name="active"
              legend="Delivery"
              options={[
                ["yes", "Send events, and first those that wait"],
                ["no", "Pause. Events are kept until you resume"],
              ]}
            />
            <Reason form={settings} hint={KEPT} />
          </ActionForm>
        </Panel>
        {mayAct("admin") ? (
          <div class="side-column">
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
                  hint="The number of a ledger entry. The events of all later entries are sent. 0 sends all."
                />
              </ActionForm>
            </Panel>
            <Panel id="secret" title="Secret">
              <p class="hint">
                A new secret is used within a minute. For 24 hours, events are also signed with the
                previous one.
              </p>
              <p class="acts">
                <a class="button quiet small" href={path("/rotate")}>
                  Replace the secret
                </a>
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
      <p class={done.reason === null ? "notice" : "problem"} role="status" {...FIRST_TO_READ}>
        {done.reason === null
          ? `The receiver accepted the test with status ${done.status} after ${done.duration_ms} ms.`
          : `The receiver did not accept the test: ${errorText(done.reason)}, after ${done.duration_ms} ms. Check its address and its log.`}
      </p>
    );
  }
  return (
    <div class="made" role="status" {...FIRST_TO_READ}>
      <MadeSecret name="the webhook’s secret" secret={done.secret} otherwise="replace the secret" />
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
        ) : deliveries.length === 0 ? null : (
          <a href={consolePath(path, { status: "pending" })}>With a next try only</a>
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
          <a href={accountPath(delivery.identity_id)}>{delivery.identity_id}</a>,
          String(delivery.attempts),
          <>
            <Time at_ms={Date.parse(delivery.at)} />
            <span class="hint below">
              {delivery.last_error === null ? "not tried yet" : errorText(delivery.last_error)}
            </span>
          </>,
          delivery.retry_at === null ? (
            "after you resume it"
          ) : (
            <Time at_ms={Date.parse(delivery.retry_at)} />
          ),
        ])}
        empty="No event waits for delivery."
      />
      <Pager path={path} filters={{ status }} {...{ cursor, next_cursor }} />
    </Panel>
  );
}
