/** `POST /console/apps/{slug}/keys` and `GET` and `POST …/revoke-key`: the forms for an app's keys. */
import { KEYS_PER_APP_MAX } from "../../domain/limits.ts";
import { appPath, RevokeKeyPage, type AddedKey } from "./apps_page.tsx";
import { emptyForm } from "./form.tsx";
import { consolePath } from "./table.tsx";
import {
  addAppKey,
  addAppKeyBody,
  revokeAppKey,
  revokeAppKeyQuery,
} from "../../http/api/admin/apps/keys.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { showAppPage } from "./apps.tsx";
import { check, invalid, optional, readForm, submit, textOf, type FailedForm } from "./forms.ts";

const LABELS = { label: "The label", reason: "The reason" };

const slugOf = (context: AppContext): string => context.req.param("slug") ?? "";

/** Shows the key in this response only. A redirect would need the key in its URL. */
export const addKey = factory.createHandlers(async (context) => {
  const form = await readForm(context);
  const checked = check(addAppKeyBody, { label: textOf(form, "label") }, LABELS);
  if (!checked.ok) return showAppPage(context, { new_key: invalid(form, checked.refusal) });
  let added: AddedKey | undefined;
  const failed = await submit(
    context,
    form,
    async () => {
      const result = await addAppKey(context, slugOf(context), checked.value, form.key);
      if (result.ok) added = result.value.value;
      return result;
    },
    { too_many_app_keys: "label", app_key_label_taken: "label" },
  );
  return showAppPage(context, {
    ...(failed === null ? {} : { new_key: failed }),
    ...(added === undefined ? {} : { added }),
  });
});

export const showRevokeKey = factory.createHandlers((context) => {
  const key_id = context.req.query("key_id") ?? "";
  return showRevokeForm(context, { form: emptyForm({ key_id }), status: 200 });
});

export const doRevokeKey = factory.createHandlers(async (context) => {
  const form = await readForm(context);
  const checked = check(revokeAppKeyQuery, optional(form, "reason"), LABELS);
  const slug = slugOf(context);
  const failed = checked.ok
    ? await submit(context, form, () =>
        revokeAppKey(context, slug, textOf(form, "key_id"), checked.value, form.key),
      )
    : invalid(form, checked.refusal);
  return failed === null
    ? context.redirect(consolePath(appPath(slug), { notice: "key-revoked" }), 303)
    : showRevokeForm(context, failed);
});

async function showRevokeForm(
  context: AppContext,
  { form, status }: FailedForm,
): Promise<Response> {
  const slug = slugOf(context);
  const { app_records } = context.get("services");
  const [app, keys] = await Promise.all([
    app_records.find(slug),
    app_records.listKeys(slug, { limit: KEYS_PER_APP_MAX }),
  ]);
  if (app === null || !keys.ok) return refuseWithPage(context, { code: "app_unknown" });
  const key = keys.value.find(({ id }) => id === form.values["key_id"]);
  if (key === undefined) return refuseWithPage(context, { code: "app_key_not_found" });
  return context.html(<RevokeKeyPage {...{ app, form }} key_record={key} />, status);
}
