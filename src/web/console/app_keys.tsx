/** `POST /console/apps/{slug}/keys` and `…/revoke-key`: the keys of an app's servers, by forms. */
import { KEYS_PER_APP_MAX } from "../../domain/limits.ts";
import { appAddress, RevokeKeyPage, type MadeKey } from "./apps_page.tsx";
import { emptyForm } from "./form.tsx";
import { consoleAddress } from "./table.tsx";
import {
  addAppKey,
  addAppKeyBody,
  revokeAppKey,
  revokeAppKeyQuery,
} from "../../http/api/admin/apps/keys.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { answerApp } from "./apps.tsx";
import { attempt, check, notDone, optional, readForm, textOf, type NotDone } from "./forms.ts";

const LABELS = { label: "The label", reason: "The reason" };

const slugOf = (context: AppContext): string => context.req.param("slug") ?? "";

/** Answers with the page itself: the key is in this answer alone, and in no address. */
export const addKey = factory.createHandlers(async (context) => {
  const form = await readForm(context);
  const order = check(addAppKeyBody, { label: textOf(form, "label") }, LABELS);
  if (!order.ok) return answerApp(context, { new_key: notDone(form, order.refusal) });
  let made: MadeKey | undefined;
  const not_done = await attempt(
    context,
    form,
    async () => {
      const answer = await addAppKey(context, slugOf(context), order.value, form.key);
      if (answer.ok) made = answer.value.value;
      return answer;
    },
    { too_many_app_keys: "label" },
  );
  return answerApp(context, {
    ...(not_done === null ? {} : { new_key: not_done }),
    ...(made === undefined ? {} : { made }),
  });
});

export const showRevokeKey = factory.createHandlers((context) => {
  const key_id = context.req.query("key_id") ?? "";
  return answerRevoke(context, { form: emptyForm({ key_id }), status: 200 });
});

export const doRevokeKey = factory.createHandlers(async (context) => {
  const form = await readForm(context);
  const order = check(revokeAppKeyQuery, optional(form, "reason"), LABELS);
  const slug = slugOf(context);
  const not_done = order.ok
    ? await attempt(context, form, () =>
        revokeAppKey(context, slug, textOf(form, "key_id"), order.value, form.key),
      )
    : notDone(form, order.refusal);
  return not_done === null
    ? context.redirect(consoleAddress(appAddress(slug), { notice: "key-revoked" }), 303)
    : answerRevoke(context, not_done);
});

async function answerRevoke(context: AppContext, { form, status }: NotDone): Promise<Response> {
  const slug = slugOf(context);
  const { app_records } = context.get("services");
  const [app, keys] = await Promise.all([
    app_records.find(slug),
    app_records.listKeys(slug, { limit: KEYS_PER_APP_MAX }),
  ]);
  if (app === null || !keys.ok) return refuseWithPage(context, { code: "app_unknown" });
  const key = keys.value.find(({ id }) => id === form.values["key_id"]);
  if (key === undefined) return refuseWithPage(context, { code: "app_key_not_found" });
  return context.html(<RevokeKeyPage {...{ app, form }} label={key.label} />, status);
}
