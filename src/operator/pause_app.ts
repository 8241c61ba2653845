/** Pauses an app: it starts no jobs and makes no starter grants, until an operator lets it continue. */
import * as z from "zod/mini";
import type { OnceAnswer } from "../account/contract.ts";
import type { AppRecord } from "../directory/app_records.ts";
import { APP_EVENTS } from "../domain/webhook.ts";
import { accepted, refused } from "../domain/result.ts";
import type { Acting } from "./acting.ts";
import { performAction, reason, textForPeople, type OperatorAction } from "./audited_action.ts";
import type { Keyed } from "./save_record.ts";

export const pauseAppBody = z.strictObject({
  reason,
  message: textForPeople,
});

export const continueAppBody = z.strictObject({ reason });

/** New jobs are refused as `app_paused` with the message. Started ones can end. Repeating it changes the message. */
export function pauseApp(
  acting: Acting,
  slug: string,
  { message, ...request }: Keyed<z.output<typeof pauseAppBody>>,
): Promise<OnceAnswer<AppRecord>> {
  const action = { act: "app.pause", subject: slug, details: { message }, ...request };
  return perform(acting, action, (audit_id) =>
    acting.services.app_pauses.pause(slug, message, audit_id),
  );
}

/** The app starts jobs again. */
export function continueApp(
  acting: Acting,
  slug: string,
  request: Keyed<z.output<typeof continueAppBody>>,
): Promise<OnceAnswer<AppRecord>> {
  const action = { act: "app.continue", subject: slug, details: {}, ...request };
  return perform(acting, action, (audit_id) => acting.services.app_pauses.continue(slug, audit_id));
}

/** Repeated under its key, an action that is done changes nothing: an operator may have done the opposite since. */
function perform(
  acting: Acting,
  action: OperatorAction,
  change: (audit_id: string) => Promise<AppRecord | null>,
): Promise<OnceAnswer<AppRecord>> {
  const { app_records } = acting.services;
  const slug = action.subject;
  const find = async () => {
    const app = await app_records.find(slug);
    return app === null ? refused({ code: "app_not_found" } as const) : accepted(app);
  };
  let message_before: string | null = null;
  return performAction<AppRecord>(
    acting,
    { ...action, find },
    async (_, { audit_id, is_done }) => {
      const before = await find();
      if (!before.ok) return before;
      if (is_done) return accepted({ value: before.value, replayed: true });
      message_before = before.value.pause_message;
      const app = await change(audit_id);
      if (app === null) return refused({ code: "app_not_found" });
      await notifyWebhooks(acting, slug);
      return accepted({ value: app, replayed: false });
    },
    ({ pause_message }) =>
      pause_message === message_before
        ? null
        : { pause_message: { from: message_before, to: pause_message } },
  );
}

/** Fails if a sender cannot be reached; the operator then repeats the action, which changes nothing more. */
async function notifyWebhooks({ services }: Acting, slug: string): Promise<void> {
  const { webhook_records, webhook_engine } = services;
  const webhooks = await webhook_records.list(slug);
  if (!webhooks.ok) return;
  const receiving = webhooks.value.filter(({ events }) =>
    APP_EVENTS.some((event) => events.includes(event)),
  );
  await Promise.all(receiving.map((webhook) => webhook_engine.wakeForApp(webhook)));
}
