/** `/console/apps/{slug}/webhooks` and `…/webhooks/{id}`: the webhooks of an app, and their forms. */
import { refused } from "../../domain/result.ts";
import { SUBSCRIBABLE_EVENTS, WEBHOOK_ID_PATTERN } from "../../domain/webhook.ts";
import {
  removeWebhook,
  removeWebhookQuery,
  rotateSecret,
} from "../../http/api/admin/webhooks/change.ts";
import {
  listDeliveriesQuery,
  readDeliveries,
  replayWebhook,
  replayWebhookBody,
  testWebhook,
} from "../../http/api/admin/webhooks/deliver.ts";
import {
  findWebhookProblem,
  saveWebhookBody,
  type SaveWebhook,
  webhookKeyOf,
} from "../../http/api/admin/webhooks/save.ts";
import { actingOf } from "../../http/api/admin/audited_action.ts";
import { saveWebhook } from "../../operator/save_webhook.ts";
import type { Webhook } from "../../http/api/admin/webhooks/views.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { emptyForm, type FormState } from "./form.tsx";
import {
  check,
  entriesOf,
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
import { consoleNoticeText } from "./labels.ts";
import { cursorOf, readQuery } from "./queries.ts";
import { consolePath } from "./table.tsx";
import { DeleteWebhookPage, RotateWebhookPage } from "./webhook_confirm_pages.tsx";
import { eventField, WebhookPage, webhookPath, WebhooksPage, type Done } from "./webhooks_page.tsx";

const LABELS = {
  id: "The id",
  url: "The address",
  events: "The events",
  thresholds: "The balances",
  identity_id: "The account",
  after_line: "The entry",
  reason: "The reason",
};

const slugOf = (context: AppContext): string => context.req.param("slug") ?? "";

const NEW_WEBHOOK = { active: "yes" };

export const showWebhooks = factory.createHandlers((context) =>
  showList(context, { form: emptyForm(NEW_WEBHOOK), status: 200 }),
);

async function showList(context: AppContext, { form, status }: FailedForm): Promise<Response> {
  const { app_records, webhook_records } = context.get("services");
  const [app, webhooks] = await Promise.all([
    app_records.find(slugOf(context)),
    webhook_records.list(slugOf(context)),
  ]);
  if (app === null || !webhooks.ok) return refuseWithPage(context, { code: "app_unknown" });
  const notice = consoleNoticeText(context.req.query("notice"));
  return context.html(
    <WebhooksPage {...{ app, form, notice }} webhooks={webhooks.value} />,
    status,
  );
}

/** Checks a form with the API's own rules. */
async function checkWebhook(context: AppContext, app_slug: string, id: string, form: FormState) {
  const body = {
    url: textOf(form, "url"),
    events: SUBSCRIBABLE_EVENTS.filter((event) => textOf(form, eventField(event)) === "yes"),
    thresholds: entriesOf(form, "thresholds").map(({ entry }) =>
      /^\d{1,16}$/.test(entry) ? Number(entry) : Number.NaN,
    ),
    active: textOf(form, "active") === "yes",
    ...versionOf(form),
    ...optional(form, "reason"),
  };
  const checked = check(saveWebhookBody, body, LABELS, form);
  if (!checked.ok) return checked;
  const problem = await findWebhookProblem(context, { app_slug, id }, checked.value);
  if (problem === null) return checked;
  return refused({ [problem.field]: `${LABELS[problem.field]} ${problem.message}.` });
}

export const createWebhook = factory.createHandlers(async (context) => {
  const form = await readForm(context);
  const [app_slug, id] = [slugOf(context), textOf(form, "id")];
  const checked = await checkWebhook(context, app_slug, id, form);
  const problems = {
    ...(WEBHOOK_ID_PATTERN.test(id)
      ? {}
      : {
          id: `${LABELS.id} must have 1 to 64 of the characters a-z, 0-9, “.”, “_” and “-”, such as main.`,
        }),
    ...(checked.ok ? {} : checked.refusal),
  };
  if (!checked.ok || Object.keys(problems).length > 0) {
    return showList(context, invalid(form, problems));
  }
  let secret: string | null = null;
  const failed = await submit(
    context,
    form,
    async () => {
      const saved = await save(context, { app_slug, id }, checked.value, form.key);
      if (saved.ok) secret = saved.value.value.secret;
      return saved;
    },
    { too_many_webhooks: "id" },
  );
  // The secret is in this response only. A redirect would need it in an address.
  if (failed === null) {
    return showOne(context, { app_slug, id }, { done: { kind: "created", secret } });
  }
  return showList(context, isOutdated(failed) ? taken(failed, ID_TAKEN) : failed);
});

const ID_TAKEN = {
  id: "This id is taken. Change the webhook on its own page, or choose another id.",
};

const save = async (
  context: AppContext,
  webhook_key: ReturnType<typeof webhookKeyOf>,
  { reason, version, ...settings }: SaveWebhook,
  key: string,
) => saveWebhook(await actingOf(context), webhook_key, settings, { reason, version, key });

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
  { app_slug, id }: { readonly app_slug: string; readonly id: string },
  { settings, replay, act, done }: Shown,
): Promise<Response> {
  const { app_records, webhook_records } = context.get("services");
  const query = readQuery(context, listDeliveriesQuery);
  const [app, found, deliveries] = await Promise.all([
    app_records.find(app_slug),
    webhook_records.find(app_slug, id),
    readDeliveries(context, { app_slug, id }, query),
  ]);
  if (app === null) return refuseWithPage(context, { code: "app_unknown" });
  if (!found.ok || !deliveries.ok) return refuseWithPage(context, { code: "webhook_not_found" });
  const saved = valuesOf(found.value);
  const shown =
    settings !== undefined && isOutdated(settings)
      ? withSavedValues(settings, saved, ["url", "events", "thresholds", "active"], shownValue)
      : settings;
  return context.html(
    <WebhookPage
      {...{ app }}
      webhook={found.value}
      {...deliveries.value}
      status={query.status}
      cursor={query.cursor === undefined ? null : cursorOf(context)}
      settings={shown?.form ?? emptyForm(saved)}
      replay={replay?.form ?? emptyForm()}
      act={act?.form ?? emptyForm()}
      done={done ?? null}
      notice={consoleNoticeText(context.req.query("notice"))}
    />,
    settings?.status ?? replay?.status ?? act?.status ?? 200,
  );
}

/** A field's value as people read it. */
function shownValue(form: FormState, name: string): string {
  if (name === "active") return textOf(form, name) === "yes" ? "events are sent" : "paused";
  if (name !== "events") return shownText(form, name);
  return SUBSCRIBABLE_EVENTS.filter((event) => textOf(form, eventField(event)) === "yes").join(" ");
}

function valuesOf({ version, ...webhook }: Webhook): FormState["values"] {
  const { url, events, thresholds, paused_at_ms } = webhook;
  return {
    version: String(version),
    url,
    thresholds: thresholds.join(" "),
    active: paused_at_ms === null ? "yes" : "no",
    ...Object.fromEntries(events.map((event) => [eventField(event), "yes"])),
  };
}

export const saveWebhookForm = factory.createHandlers(async (context) => {
  const webhook_key = webhookKeyOf(context);
  const form = await readForm(context);
  const { webhook_records } = context.get("services");
  const known = await webhook_records.find(webhook_key.app_slug, webhook_key.id);
  if (!known.ok) return refuseWithPage(context, known.refusal);
  const checked = await checkWebhook(context, webhook_key.app_slug, webhook_key.id, form);
  const failed = checked.ok
    ? await submit(context, form, () => save(context, webhook_key, checked.value, form.key))
    : invalid(form, checked.refusal);
  return failed === null
    ? context.redirect(noticePath(webhook_key, "webhook-saved"), 303)
    : showOne(context, webhook_key, { settings: failed });
});

const noticePath = ({ app_slug, id }: ReturnType<typeof webhookKeyOf>, notice: string): string =>
  consolePath(webhookPath(app_slug, id), { notice });

export const showRotateWebhook = factory.createHandlers((context) =>
  showConfirmation(context, RotateWebhookPage, { form: emptyForm(), status: 200 }),
);

export const rotateWebhookForm = factory.createHandlers(async (context) => {
  const webhook_key = webhookKeyOf(context);
  const form = await readForm(context);
  let secret: string | null = null;
  const failed = await submit(context, form, async () => {
    const rotated = await rotateSecret(context, webhook_key, {}, form.key);
    if (rotated.ok) secret = rotated.value.value;
    return rotated;
  });
  return failed === null
    ? showOne(context, webhook_key, { done: { kind: "rotated", secret } })
    : showConfirmation(context, RotateWebhookPage, failed);
});

export const testWebhookForm = factory.createHandlers(async (context) => {
  const webhook_key = webhookKeyOf(context);
  const form = await readForm(context);
  let done: Done | undefined;
  const failed = await submit(context, form, async () => {
    const pinged = await testWebhook(context, webhook_key, {}, form.key);
    if (pinged.ok) done = { kind: "tested", ...pinged.value.value };
    return pinged;
  });
  return showOne(context, webhook_key, {
    ...(failed === null ? {} : { act: failed }),
    ...(done === undefined ? {} : { done }),
  });
});

export const replayWebhookForm = factory.createHandlers(async (context) => {
  const webhook_key = webhookKeyOf(context);
  const form = await readForm(context);
  const body = {
    identity_id: textOf(form, "identity_id"),
    after_line: wholeNumberOf(form, "after_line"),
  };
  const checked = check(replayWebhookBody, body, LABELS);
  const failed = checked.ok
    ? await submit(
        context,
        form,
        () => replayWebhook(context, webhook_key, checked.value, form.key),
        {
          account_unknown: "identity_id",
          identity_ambiguous: "identity_id",
        },
      )
    : invalid(form, checked.refusal);
  return failed === null
    ? context.redirect(noticePath(webhook_key, "webhook-replayed"), 303)
    : showOne(context, webhook_key, { replay: failed });
});

export const showDeleteWebhook = factory.createHandlers((context) =>
  showConfirmation(context, DeleteWebhookPage, { form: emptyForm(), status: 200 }),
);

/** The page that asks before a webhook is deleted or its secret is replaced. */
async function showConfirmation(
  context: AppContext,
  Confirmation: typeof DeleteWebhookPage,
  { form, status }: FailedForm,
) {
  const { app_slug, id } = webhookKeyOf(context);
  const { app_records, webhook_records } = context.get("services");
  const [app, found] = await Promise.all([
    app_records.find(app_slug),
    webhook_records.find(app_slug, id),
  ]);
  if (app === null) return refuseWithPage(context, { code: "app_unknown" });
  if (!found.ok) return refuseWithPage(context, found.refusal);
  return context.html(<Confirmation {...{ app, form }} webhook={found.value} />, status);
}

export const deleteWebhookForm = factory.createHandlers(async (context) => {
  const webhook_key = webhookKeyOf(context);
  const form = await readForm(context);
  const checked = check(removeWebhookQuery, optional(form, "reason"), LABELS);
  const failed = checked.ok
    ? await submit(context, form, () =>
        removeWebhook(context, webhook_key, checked.value, form.key),
      )
    : invalid(form, checked.refusal);
  return failed === null
    ? context.redirect(
        consolePath(webhookPath(webhook_key.app_slug), { notice: "webhook-deleted" }),
        303,
      )
    : showConfirmation(context, DeleteWebhookPage, failed);
});
