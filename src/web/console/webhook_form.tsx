/** The form of a webhook: its settings, each stated once. */
import {
  SUBSCRIBABLE_EVENTS,
  WEBHOOK_ID_PATTERN,
  type SubscribableEvent,
} from "../../domain/webhook.ts";
import {
  findWebhookProblem,
  saveWebhook,
  saveWebhookBody,
  type SaveWebhook,
  type Webhook,
} from "../../operator/save_webhook.ts";
import { Choice, FieldProblem, groupDescribedBy } from "../allowance/fields.tsx";
import { Choices, type FormState } from "./form.tsx";
import { textOf } from "./forms.ts";
import { isNew, list, text, type RecordField, type RecordForm } from "./record_form.tsx";

const EVENT_TEXTS = {
  "job.created": "A job started",
  "job.progressed": "A job took a step: only the newest is sent",
  "job.completed": "A job was completed",
  "job.failed": "A job failed",
  "job.expired": "A job timed out or was cancelled",
  "credits.changed": "The balance changed, at most once a second",
  "credits.granted": "Credits were granted or refunded",
  "credits.low": "The credits that it can use fell to one of the numbers below",
  "credits.expiring": "Credits that it can use expire in a week or in a day",
  "credits.expired": "Credits that it could use have expired",
  "credits.refused": "A request needed more credits than there were",
  "topup.failed": "The card of an automatic top-up was not charged",
  "topup.disabled": "Automatic top-up was switched off",
  "purchase.completed": "Credits were bought",
  "purchase.refunded": "A purchase was refunded or disputed",
  "account.deleted": "The account was deleted",
  "approval.approved": "A job beyond a limit was approved",
  "approval.denied": "A job beyond a limit was denied",
  "connection.revoked": "A connection of one of the app’s clients was revoked",
  "connection.limit_reached": "A connection of one of the app’s clients used up its limit",
  "access.stopped": "The app was stopped in an account",
  "access.allowed": "A stopped app was allowed again",
  "app.paused": "An operator paused the app",
  "app.continued": "An operator let the app continue",
} as const satisfies Readonly<Record<SubscribableEvent, string>>;

/** The name of an event's checkbox. */
const eventField = (event: SubscribableEvent): string => `event-${event}`;

const chosenEvents = (form: FormState): readonly SubscribableEvent[] =>
  SUBSCRIBABLE_EVENTS.filter((event) => textOf(form, eventField(event)) === "yes");

const events: RecordField = {
  name: "events",
  label: "Events",
  called: "The events",
  body: (form) => ({ events: chosenEvents(form) }),
  values: (record) =>
    Object.fromEntries((record as Webhook).events.map((event) => [eventField(event), "yes"])),
  shown: (form) => chosenEvents(form).join(" "),
  Input: ({ form }) => (
    <fieldset {...groupDescribedBy("events-problem", form.problems["events"])}>
      <legend>Events</legend>
      <FieldProblem id="events-problem" problem={form.problems["events"]} />
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
  ),
};

/** A new webhook is active. */
const active: RecordField = {
  name: "active",
  label: "Delivery",
  called: "The delivery",
  body: (form) => ({ active: textOf(form, "active") === "yes" }),
  values: (record) => ({ active: (record as Webhook).paused_at_ms === null ? "yes" : "no" }),
  shown: (form) => (textOf(form, "active") === "yes" ? "events are sent" : "paused"),
  Input: ({ form }) =>
    isNew(form) ? (
      <input type="hidden" name="active" value="yes" />
    ) : (
      <Choices
        form={form}
        name="active"
        legend="Delivery"
        options={[
          ["yes", "Send events, and first those that wait"],
          ["no", "Pause. Events are kept until you resume"],
        ]}
      />
    ),
};

export const WEBHOOK_FORM: RecordForm<SaveWebhook, Webhook> = {
  id: {
    name: "id",
    label: "Id",
    called: "The id",
    spellcheck: false,
    hint: "Such as main. You cannot change it later.",
    taken: "This id is taken. Change the webhook on its own page, or choose another id.",
    problemOf: (id) =>
      WEBHOOK_ID_PATTERN.test(id)
        ? null
        : "must have 1 to 64 of the characters a-z, 0-9, “.”, “_” and “-”, such as main",
  },
  fields: [
    text({
      name: "url",
      label: "Address",
      called: "The address",
      inputmode: "url",
      spellcheck: false,
      hint: "Begins with https:// and has a public host name. Events are sent there as Standard Webhooks.",
    }),
    events,
    list(
      {
        name: "thresholds",
        label: "Balances for credits.low",
        called: "The balances",
        hint: "Credits, separated by spaces, such as 20 100. The event is sent when a balance falls to one of them.",
      },
      (entry) => (/^\d{1,16}$/.test(entry) ? Number(entry) : Number.NaN),
    ),
    active,
  ],
  schema: saveWebhookBody,
  refusals: { limit_reached: "id" },
  async find({ webhook_records }, { app_slug, id }) {
    const found = await webhook_records.find(app_slug, id);
    return found.ok ? found.value : null;
  },
  findProblem: (context, key, body) => findWebhookProblem(context.get("services"), key, body),
  save: saveWebhook,
};
