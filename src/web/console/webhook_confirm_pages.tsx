/** The pages that ask before a webhook's secret is replaced, or the webhook is deleted. */
import type { Webhook } from "../../http/api/admin/webhooks/views.ts";
import type { AppRecord } from "./apps_page.tsx";
import { ActionForm, FormPage, Reason, type FormState } from "./form.tsx";
import { KEPT, webhookPath } from "./webhooks_page.tsx";

interface ConfirmWebhookPageProps {
  readonly app: Pick<AppRecord, "slug" | "name">;
  readonly webhook: Webhook;
  readonly form: FormState;
}

export function RotateWebhookPage({ app, webhook, form }: ConfirmWebhookPageProps) {
  const back = webhookPath(app.slug, webhook.id);
  return (
    <FormPage
      title={`Replace the secret of “${webhook.id}”?`}
      section="apps"
      about={{ href: back, name: `${app.name}: ${webhook.id}` }}
      form={form}
    >
      <p>
        The next page shows a new secret, once. For 24 hours, events are also signed with the
        previous one. Give the app’s server the new secret within that time: after it, the server
        refuses all events that it checks with the previous one.
      </p>
      <ActionForm
        action={`${back}/rotate`}
        form={form}
        button="Replace the secret"
        danger
        back={back}
      >
        {null}
      </ActionForm>
    </FormPage>
  );
}

export function DeleteWebhookPage({ app, webhook, form }: ConfirmWebhookPageProps) {
  const back = webhookPath(app.slug, webhook.id);
  return (
    <FormPage
      title={`Delete the webhook “${webhook.id}”?`}
      section="apps"
      about={{ href: back, name: `${app.name}: ${webhook.id}` }}
      form={form}
    >
      <p>
        No more events are sent to {webhook.url}. Events that wait are lost. This cannot be undone.
      </p>
      <ActionForm action={`${back}/delete`} form={form} button="Delete" danger back={back}>
        <Reason form={form} hint={KEPT} />
      </ActionForm>
    </FormPage>
  );
}
