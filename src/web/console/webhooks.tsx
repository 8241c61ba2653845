/** `/console/apps/{slug}/webhooks` and `…/webhooks/{id}`: the webhooks of an app, and their forms. */
import * as z from "zod/mini";
import { accepted, refused } from "../../domain/result.ts";
import { actingOf } from "../../http/caller/acting.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { countRequest } from "../../http/middleware/rate_limits.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { deleteWebhook } from "../../operator/delete_record.ts";
import type { Webhook } from "../../operator/save_webhook.ts";
import {
  listAttemptsQuery,
  listDeliveriesQuery,
  readAttempts,
  readDeliveries,
  replayWebhook,
  replayWebhookBody,
  retryWebhook,
  rotateSecret,
  testWebhook,
  testWebhookBody,
} from "../../operator/webhook_actions.ts";
import { FIRST_TO_READ } from "../layout/layout.tsx";
import { Time } from "../layout/time.tsx";
import type { AppRecord } from "./apps.tsx";
import { confirmed, ConfirmationPage } from "./confirmation.tsx";
import { ConsolePage } from "./console_page.tsx";
import { emptyForm, ActionForm, Field, titleOf, type FormState } from "./form.tsx";
import {
  check,
  invalid,
  optional,
  readForm,
  submit,
  textOf,
  wholeNumberOf,
  type FailedForm,
} from "./forms.ts";
import { MadeSecret } from "./made_secret.tsx";
import { Panel } from "./panel.tsx";
import { ForRole, mayAct } from "./permission.tsx";
import { cursorOf, personNames, problemOf, readQuery, slugOf } from "./queries.ts";
import { ChangeForm, formOf, readRecordForm, submitRecord, RecordFields } from "./record_form.tsx";
import { appPath, consolePath, Table } from "./table.tsx";
import {
  Attempts,
  Deliveries,
  errorText,
  ResponseText,
  webhookPath,
  type DeliveriesProps,
} from "./webhook_deliveries.tsx";
import { WEBHOOK_FORM } from "./webhook_form.tsx";

/** The app and the webhook that the path names. */
const webhookKeyOf = (context: AppContext) => ({
  app_slug: slugOf(context),
  id: context.req.param("id") ?? "",
});

type WebhookKey = ReturnType<typeof webhookKeyOf>;

export const showWebhooks = factory.createHandlers((context) =>
  showList(context, { form: emptyForm(), status: 200 }),
);

async function showList(context: AppContext, { form, status }: FailedForm): Promise<Response> {
  const { app_records, webhook_records } = context.get("services");
  const [app, webhooks] = await Promise.all([
    app_records.find(slugOf(context)),
    webhook_records.list(slugOf(context)),
  ]);
  if (app === null || !webhooks.ok) return refuseWithPage(context, { code: "app_not_found" });
  return context.html(
    <ConsolePage
      title={titleOf(`Webhooks: ${app.name}`, form)}
      heading="Webhooks"
      section="apps"
      scripts={["times.js", "forms.js"]}
      aside={<a href={appPath(app.slug)}>{app.name}</a>}
    >
      <section class="panel" aria-label="Webhooks">
        <Table
          label="Webhooks of the app"
          columns={["Webhook", "State", "Last success", "Last error"]}
          rows={webhooks.value.map((webhook) => [
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
        <ForRole role="admin" action="Adding a webhook">
          <ActionForm action={webhookPath(app.slug)} form={form} button="Add">
            <RecordFields kind={WEBHOOK_FORM} form={form} />
          </ActionForm>
        </ForRole>
      </Panel>
    </ConsolePage>,
    status,
  );
}

export const createWebhook = factory.createHandlers(async (context) => {
  const form = await readForm(context);
  const webhook_key = { app_slug: slugOf(context), id: textOf(form, "id") };
  const saved = await submitRecord(context, WEBHOOK_FORM, webhook_key, form);
  if (!saved.ok) return showList(context, saved.refusal);
  // The secret is in this response only. A redirect would need it in an address.
  const { secret } = saved.value;
  return showOne(context, webhook_key, { done: { kind: "created", secret } });
});

interface Shown {
  readonly settings?: FailedForm;
  readonly replay?: FailedForm;
  readonly act?: FailedForm;
  readonly done?: Done;
}

export const showWebhook = factory.createHandlers((context) =>
  showOne(context, webhookKeyOf(context), {}),
);

/** The page of a webhook, with a form that failed or what was just done. */
async function showOne(
  context: AppContext,
  { app_slug, id }: WebhookKey,
  { settings, replay, act, done }: Shown,
): Promise<Response> {
  const services = context.get("services");
  const query = readQuery(context, listDeliveriesQuery);
  const { account } = readQuery(
    context,
    z.object({ account: listAttemptsQuery.shape.identity_id }),
  );
  const [app, webhook, deliveries, attempts] = await Promise.all([
    services.app_records.find(app_slug),
    WEBHOOK_FORM.find(services, { app_slug, id }),
    readDeliveries(services, { app_slug, id }, query),
    readAttempts(await actingOf(context), { app_slug, id }, { identity_id: account }),
  ]);
  if (app === null) return refuseWithPage(context, { code: "app_not_found" });
  if (webhook === null || !deliveries.ok) {
    return refuseWithPage(context, { code: "webhook_not_found" });
  }
  const tried = attempts.ok ? attempts.value : [];
  const people = [...deliveries.value.deliveries, ...tried];
  return context.html(
    <WebhookPage
      {...{ app, webhook }}
      {...deliveries.value}
      status={query.status}
      cursor={query.cursor === undefined ? null : cursorOf(context)}
      settings={settings?.form ?? formOf(WEBHOOK_FORM, webhook)}
      replay={replay?.form ?? emptyForm()}
      act={act?.form ?? emptyForm()}
      attempts={tried}
      attempts_of={account}
      attempts_problem={problemOf(attempts)}
      personName={await personNames(
        context,
        people.flatMap(({ identity_id }) => identity_id ?? []),
      )}
      done={done ?? null}
    />,
    settings?.status ?? replay?.status ?? act?.status ?? 200,
  );
}

export const saveWebhookForm = factory.createHandlers(async (context) => {
  const webhook_key = webhookKeyOf(context);
  const form = await readRecordForm(context);
  if ((await WEBHOOK_FORM.find(context.get("services"), webhook_key)) === null) {
    return refuseWithPage(context, { code: "webhook_not_found" });
  }
  const saved = await submitRecord(context, WEBHOOK_FORM, webhook_key, form);
  return saved.ok
    ? context.redirect(noticePath(webhook_key, "webhook-saved"), 303)
    : showOne(context, webhook_key, { settings: saved.refusal });
});

const noticePath = ({ app_slug, id }: WebhookKey, notice: string): string =>
  consolePath(webhookPath(app_slug, id), { notice });

export const testWebhookForm = factory.createHandlers(async (context) => {
  const webhook_key = webhookKeyOf(context);
  const form = await readForm(context);
  const tested = await submit(context, form, async (acting) => {
    const counted = `${webhook_key.app_slug} ${webhook_key.id}`;
    const limited = await countRequest(context, "webhook_test", counted);
    if (limited !== null) return refused(limited);
    const body = check(testWebhookBody, optional(form, "type"), { type: "The event" });
    if (!body.ok) return refused({ code: "invalid_request", detail: "Choose an event." });
    return testWebhook(acting, webhook_key, { ...body.value, key: form.key });
  });
  const shown: Shown = tested.ok
    ? {
        done: { kind: "tested", ...tested.value },
        act: { form: emptyForm({ type: textOf(form, "type") }), status: 200 },
      }
    : { act: tested.refusal };
  return showOne(context, webhook_key, shown);
});

export const retryWebhookForm = factory.createHandlers(async (context) => {
  const webhook_key = webhookKeyOf(context);
  const form = await readForm(context);
  const retried = await submit(context, form, (acting) =>
    retryWebhook(acting, webhook_key, { key: form.key }),
  );
  return retried.ok
    ? context.redirect(noticePath(webhook_key, "webhook-retried"), 303)
    : showOne(context, webhook_key, { act: retried.refusal });
});

export const replayWebhookForm = factory.createHandlers(async (context) => {
  const webhook_key = webhookKeyOf(context);
  const form = await readForm(context);
  const since = textOf(form, "since");
  const body =
    since === ""
      ? {
          identity_id: textOf(form, "identity_id"),
          after_line: wholeNumberOf(form, "after_line"),
        }
      : { since };
  const labels = { identity_id: "The account", after_line: "The entry", since: "The time" };
  const checked = check(replayWebhookBody, body, labels);
  if (!checked.ok) return showOne(context, webhook_key, { replay: invalid(form, checked.refusal) });
  const request = { ...checked.value, key: form.key };
  const replayed = await submit(
    context,
    form,
    (acting) => replayWebhook(acting, webhook_key, request),
    { account_unknown: "identity_id", identity_ambiguous: "identity_id" },
  );
  return replayed.ok
    ? context.redirect(noticePath(webhook_key, "webhook-replayed"), 303)
    : showOne(context, webhook_key, { replay: replayed.refusal });
});

/** The app and the webhook that the path names, for the pages that ask first. */
async function readWebhook(context: AppContext) {
  const { app_slug, id } = webhookKeyOf(context);
  const { app_records, webhook_records } = context.get("services");
  const [app, found] = await Promise.all([
    app_records.find(app_slug),
    webhook_records.find(app_slug, id),
  ]);
  if (app === null) return refused({ code: "app_not_found" } as const);
  return found.ok ? accepted({ app, webhook: found.value }) : found;
}

export const rotation = confirmed({
  read: readWebhook,
  page: (subject, form) => <RotateWebhookPage {...subject} form={form} />,
  perform: (acting, context, _, request) => rotateSecret(acting, webhookKeyOf(context), request),
  done: (context, secret) =>
    showOne(context, webhookKeyOf(context), { done: { kind: "rotated", secret } }),
});

export const webhook_deletion = confirmed({
  read: readWebhook,
  page: (subject, form) => <DeleteWebhookPage {...subject} form={form} />,
  perform: (acting, context, _, request) => deleteWebhook(acting, webhookKeyOf(context), request),
  done: (context) =>
    context.redirect(consolePath(webhookPath(slugOf(context)), { notice: "webhook-deleted" }), 303),
});

type App = Pick<AppRecord, "slug" | "name">;

function State(webhook: Webhook) {
  const { paused_at_ms, paused_reason, failing_since_ms } = webhook;
  if (paused_at_ms === null && failing_since_ms !== null) {
    return (
      <>
        <span class="tag is-bad">failing</span>
        <span class="hint below">
          since <Time at_ms={failing_since_ms} />. Events wait and are sent again.
        </span>
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

/** The action that a form of the page has just done. */
type Done =
  | { readonly kind: "created" | "rotated"; readonly secret: string | null }
  | {
      readonly kind: "tested";
      readonly status: number | null;
      readonly duration_ms: number;
      readonly reason: string | null;
      readonly response: string | null;
    };

interface WebhookPageProps extends DeliveriesProps {
  readonly settings: FormState;
  readonly replay: FormState;
  readonly done: Done | null;
}

function WebhookPage(props: WebhookPageProps) {
  const { app, webhook, settings, replay, act, done } = props;
  const path = (part = ""): string => webhookPath(app.slug, webhook.id, part);
  return (
    <ConsolePage
      title={titleOf(`${webhook.id}: ${app.name}`, settings, replay, act)}
      section="apps"
      heading={`Webhook “${webhook.id}”`}
      scripts={["times.js", "forms.js", "copy.js"]}
      aside={
        <span>
          <a href={appPath(app.slug)}>{app.name}</a>
          {" · "}
          <a href={webhookPath(app.slug)}>Webhooks</a>
        </span>
      }
    >
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
            <TestType events={webhook.events} chosen={act.values["type"]} />
          </ActionForm>
        </ForRole>
      </Panel>
      <Deliveries {...props} />
      <Attempts {...props} />
      <div class="columns">
        <Panel id="settings" title="Settings">
          <ChangeForm kind={WEBHOOK_FORM} action={path()} form={settings} button="Save" />
        </Panel>
        {mayAct("admin") ? <SidePanels replay={replay} path={path} /> : null}
      </div>
    </ConsolePage>
  );
}

/** The events that a test can send: those that the webhook gets, and `ping`. */
function TestType(props: {
  readonly events: readonly string[];
  readonly chosen: string | undefined;
}) {
  return (
    <>
      <label for="type">Event</label>
      <select id="type" name="type" aria-describedby="type-hint">
        {["ping", ...props.events].map((type) => (
          <option value={type} selected={type === props.chosen}>
            {type}
          </option>
        ))}
      </select>
      <p class="hint" id="type-hint">
        Sends a sample once, marked as a test, and shows how the receiver responds.
      </p>
    </>
  );
}

interface SidePanelsProps {
  readonly replay: FormState;
  readonly path: (part: string) => string;
}

function SidePanels({ replay, path }: SidePanelsProps) {
  return (
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
          <Field
            form={replay}
            name="since"
            label="Or all accounts since"
            spellcheck={false}
            hint="A time of the last 7 days, such as 2026-11-27T10:00:00Z, instead of an account."
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
  );
}

function DoneMessage(done: Done) {
  if (done.kind === "tested") {
    return (
      <div class={done.reason === null ? "notice" : "problem"} role="status" {...FIRST_TO_READ}>
        <p>
          {done.reason === null
            ? `The receiver accepted the test with status ${done.status} after ${done.duration_ms} ms.`
            : `The receiver did not accept the test: ${errorText(done.reason)}, after ${done.duration_ms} ms. Check its address and its log.`}
        </p>
        <ResponseText text={done.response} />
      </div>
    );
  }
  return (
    <div class="made" role="status" {...FIRST_TO_READ}>
      <MadeSecret name="the webhook’s secret" secret={done.secret} otherwise="replace the secret" />
    </div>
  );
}

interface ConfirmWebhookPageProps {
  readonly app: App;
  readonly webhook: Webhook;
  readonly form: FormState;
}

function RotateWebhookPage({ app, webhook, form }: ConfirmWebhookPageProps) {
  const back = webhookPath(app.slug, webhook.id);
  return (
    <ConfirmationPage
      title={`Replace the secret of “${webhook.id}”?`}
      about={{ href: back, name: `${app.name}: ${webhook.id}` }}
      action={`${back}/rotate`}
      button="Replace the secret"
      back={back}
      form={form}
      without_reason
    >
      <p>
        The next page shows a new secret, once. For 24 hours, events are also signed with the
        previous one. Give the app’s server the new secret within that time: after it, the server
        refuses all events that it checks with the previous one.
      </p>
    </ConfirmationPage>
  );
}

function DeleteWebhookPage({ app, webhook, form }: ConfirmWebhookPageProps) {
  const back = webhookPath(app.slug, webhook.id);
  return (
    <ConfirmationPage
      title={`Delete the webhook “${webhook.id}”?`}
      about={{ href: back, name: `${app.name}: ${webhook.id}` }}
      action={`${back}/delete`}
      button="Delete"
      back={back}
      form={form}
    >
      <p>
        Within a minute, no more events are sent to {webhook.url}. Events that wait are lost. This
        cannot be undone.
      </p>
    </ConfirmationPage>
  );
}
