/** `/console/apps/{slug}/pause` and `/console/apps/{slug}/continue`: an operator stops an app from starting jobs. */
import { factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { continueApp, continueAppBody, pauseApp, pauseAppBody } from "../../operator/pause_app.ts";
import type { AppRecord } from "../../operator/save_app.ts";
import { Time } from "../layout/time.tsx";
import { ActionForm, emptyForm, Field, FormPage, Reason, type FormState } from "./form.tsx";
import { check, invalid, readForm, submit, textOf, type FailedForm } from "./forms.ts";
import { mayAct } from "./permission.tsx";
import { slugOf } from "./queries.ts";
import { appPath, consolePath } from "./table.tsx";

const LABELS = { reason: "The reason", message: "The message" };

/** On the page of an app that is paused. */
export function PausedNotice({ app }: { app: AppRecord }) {
  if (app.paused_at_ms === null) return null;
  return (
    <div class="problem">
      <p>
        <strong>
          Paused since <Time at_ms={app.paused_at_ms} />.
        </strong>{" "}
        New jobs are refused with: “{app.pause_message}”
      </p>
      {mayAct("admin") ? (
        <p class="acts">
          <a class="button quiet small" href={appPath(app.slug, "/continue")}>
            Continue
          </a>
          <a class="button quiet small" href={appPath(app.slug, "/pause")}>
            Change the message
          </a>
        </p>
      ) : null}
    </div>
  );
}

/** In the danger zone of an app that is not paused. */
export function PauseRow({ app }: { app: AppRecord }) {
  if (app.paused_at_ms !== null) return null;
  return (
    <li>
      <span>
        <strong>Pause this app</strong>
        <span class="hint below">
          It starts no jobs and gives no starter credits until you let it continue. Its started jobs
          can end.
        </span>
      </span>
      {mayAct("admin") ? (
        <a class="button quiet small" href={appPath(app.slug, "/pause")}>
          Pause this app
        </a>
      ) : null}
    </li>
  );
}

async function readApp(context: AppContext): Promise<AppRecord | null> {
  return context.get("services").app_records.find(slugOf(context));
}

function PausePage({ app, form }: { app: AppRecord; form: FormState }) {
  const is_paused = app.paused_at_ms !== null;
  return (
    <FormPage
      title={is_paused ? "Change the message" : `Pause ${app.name}?`}
      section="apps"
      about={{ href: appPath(app.slug), name: app.name }}
      form={form}
    >
      <ul>
        <li>Within a minute, every request that would start a job is refused.</li>
        <li>Nobody gets this app’s starter credits.</li>
        <li>Started jobs go on: they can report, finish and fail, and are charged as usual.</li>
      </ul>
      <ActionForm
        action={appPath(app.slug, "/pause")}
        form={form}
        button={is_paused ? "Save" : "Pause this app"}
        danger={!is_paused}
        back={appPath(app.slug)}
      >
        <Field
          form={form}
          name="message"
          label="What people read"
          hint="Apps show it when a job is refused, and holders see it on their page Access. Say when to try again."
          rows={2}
        />
        <Reason form={form} hint="Only for operators. This is kept in the audit log." />
      </ActionForm>
    </FormPage>
  );
}

async function renderPause(context: AppContext, failed?: FailedForm): Promise<Response> {
  const app = await readApp(context);
  if (app === null) return refuseWithPage(context, { code: "app_not_found" });
  const form = failed?.form ?? emptyForm({ message: app.pause_message ?? "" });
  return context.html(<PausePage app={app} form={form} />, failed?.status ?? 200);
}

export const showPause = factory.createHandlers((context) => renderPause(context));

export const doPause = factory.createHandlers(async (context) => {
  const form = await readForm(context);
  const slug = slugOf(context);
  const body = { reason: textOf(form, "reason"), message: textOf(form, "message") };
  const checked = check(pauseAppBody, body, LABELS);
  if (!checked.ok) return renderPause(context, invalid(form, checked.refusal));
  const request = { ...checked.value, key: form.key };
  const paused = await submit(context, form, (acting) => pauseApp(acting, slug, request));
  return paused.ok
    ? context.redirect(consolePath(appPath(slug), { notice: "app-paused" }), 303)
    : renderPause(context, paused.refusal);
});

async function renderContinue(context: AppContext, failed?: FailedForm): Promise<Response> {
  const app = await readApp(context);
  if (app === null) return refuseWithPage(context, { code: "app_not_found" });
  const form = failed?.form ?? emptyForm();
  return context.html(
    <FormPage
      title={`Let ${app.name} continue?`}
      section="apps"
      about={{ href: appPath(app.slug), name: app.name }}
      form={form}
    >
      <p>The app starts jobs and gives starter credits again, everywhere within a minute.</p>
      <ActionForm
        action={appPath(app.slug, "/continue")}
        form={form}
        button="Continue"
        back={appPath(app.slug)}
      >
        <Reason form={form} hint="This is kept in the audit log." />
      </ActionForm>
    </FormPage>,
    failed?.status ?? 200,
  );
}

export const showContinue = factory.createHandlers((context) => renderContinue(context));

export const doContinue = factory.createHandlers(async (context) => {
  const form = await readForm(context);
  const slug = slugOf(context);
  const checked = check(continueAppBody, { reason: textOf(form, "reason") }, LABELS);
  if (!checked.ok) return renderContinue(context, invalid(form, checked.refusal));
  const request = { ...checked.value, key: form.key };
  const continued = await submit(context, form, (acting) => continueApp(acting, slug, request));
  return continued.ok
    ? context.redirect(consolePath(appPath(slug), { notice: "app-continued" }), 303)
    : renderContinue(context, continued.refusal);
});
