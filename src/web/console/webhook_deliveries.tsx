/** What became of a webhook's events: those that wait, and the last attempts. */
import type { Webhook } from "../../operator/save_webhook.ts";
import type { DeliveryPage, ShownAttempt } from "../../operator/webhook_actions.ts";
import { Time } from "../layout/time.tsx";
import type { AppRecord } from "./apps.tsx";
import { ActionForm, type FormState } from "./form.tsx";
import { Panel } from "./panel.tsx";
import { mayAct } from "./permission.tsx";
import {
  accountPath,
  appPath,
  consolePath,
  FilterForm,
  FilterProblem,
  Pager,
  Table,
} from "./table.tsx";

export interface DeliveriesProps extends DeliveryPage {
  readonly app: Pick<AppRecord, "slug" | "name">;
  readonly webhook: Webhook;
  readonly status: "pending" | "failed" | undefined;
  readonly cursor: string | null;
  readonly act: FormState;
  readonly attempts: readonly ShownAttempt[];
  /** The account whose attempts are shown, as the operator named it. */
  readonly attempts_of: string | undefined;
  /** Why there are none of it. */
  readonly attempts_problem: string | null;
  readonly personName: (identity_id: string) => string;
}

export const webhookPath = (slug: string, id?: string, part = ""): string =>
  appPath(slug, id === undefined ? "/webhooks" : `/webhooks/${encodeURIComponent(id)}${part}`);

/** Why an attempt failed, for people: its response's status is `status_500`. */
export const errorText = (reason: string): string =>
  reason
    .replace(/^status_(\d+)$/, "status $1")
    .replace(/^timeout$/, "no response in time")
    .replace(/^unreachable$/, "no connection");

/** The beginning of what a receiver responded, which people with a lower role do not see. */
export function ResponseText({ text }: { readonly text: string | null }) {
  return text === null || !mayAct("admin") ? null : (
    <>
      <span class="hint below">The response begins:</span>
      <pre class="response">{text}</pre>
    </>
  );
}

/** The events that wait. */
export function Deliveries(props: DeliveriesProps) {
  const { app, webhook, deliveries, next_cursor, status, cursor, act, personName } = props;
  const { replays_since } = props;
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
      {replays_since === null ? null : (
        <p class="hint">
          The events of all accounts since <Time at_ms={Date.parse(replays_since)} /> are being sent
          again.
        </p>
      )}
      <Table
        label="Events that were not delivered, one for each account"
        columns={["Event", "Account", { amount: "Tries" }, "Last try", "Next try"]}
        rows={deliveries.map((delivery) => [
          <>
            <code>{delivery.type}</code>
            <span class="hint below">after entry {delivery.line}</span>
          </>,
          <Receiver {...delivery} personName={personName} />,
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
      {deliveries.length === 0 || webhook.paused_at_ms !== null || !mayAct("admin") ? null : (
        <ActionForm action={`${path}/retry`} form={{ ...act, problems: {} }} button="Retry now">
          <p class="hint">Sends what waits now, instead of at the next try.</p>
        </ActionForm>
      )}
      <Pager path={path} filters={{ status }} {...{ cursor, next_cursor }} />
    </Panel>
  );
}

/** The last attempts of all accounts, or every event that was sent to one. */
export function Attempts(props: DeliveriesProps) {
  const { app, webhook, attempts, attempts_of, attempts_problem, personName } = props;
  const path = webhookPath(app.slug, webhook.id);
  return (
    <Panel
      id="attempts"
      title="Sent events"
      aside={
        <FilterForm
          path={`${path}#attempts`}
          filters={[{ name: "account", label: "Of the account" }]}
          values={{ account: attempts_of }}
        />
      }
    >
      {attempts_problem === null ? null : <FilterProblem problem={attempts_problem} />}
      <Table
        label="Sent events, the newest first"
        columns={["Event", "Account", { amount: "Try" }, "When", "Result"]}
        rows={attempts.map((attempt) => [
          <>
            <code>{attempt.type}</code>
            <span class="hint below">of entry {attempt.line}</span>
          </>,
          <Receiver {...attempt} personName={personName} />,
          String(attempt.attempts),
          <Time at_ms={Date.parse(attempt.at)} />,
          <Outcome {...attempt} />,
        ])}
        empty={
          attempts_of === undefined
            ? "No event was sent in the last 7 days."
            : "No event of this account was sent to this webhook in the last 7 days."
        }
      />
      <p class="hint">
        {attempts_of === undefined
          ? "The last 20 of 7 days: every try that failed, and about one a minute of those that succeeded. Name an account to see all of its events."
          : "The last 20 tries of 7 days for this account."}
      </p>
    </Panel>
  );
}

function Receiver(props: {
  readonly identity_id: string | null;
  readonly personName: (identity_id: string) => string;
}) {
  const { identity_id, personName } = props;
  if (identity_id === null) return <>the app itself</>;
  return <a href={accountPath(identity_id)}>{personName(identity_id)}</a>;
}

function Outcome({ status, duration_ms, error, response }: ShownAttempt) {
  return (
    <>
      {error === null ? `accepted with status ${status}` : errorText(error)}
      <span class="hint below">after {duration_ms} ms</span>
      <ResponseText text={response} />
    </>
  );
}
