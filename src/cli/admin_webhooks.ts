/** `passbook admin apps webhooks`: where the events of an app are sent. */
import { InvalidArgumentError, Option, type Command } from "commander";
import { PassbookError, type Webhook, type Webhooks } from "../client/index.ts";
import { readCredits } from "./filters.ts";
import { more, plain, print, table } from "./output.ts";
import { signedIn, type GlobalOptions } from "./session.ts";

interface WebhookOptions extends GlobalOptions {
  readonly to?: string;
  readonly event?: Webhook["events"];
  readonly threshold?: readonly number[];
  readonly active?: boolean;
  readonly reason?: string;
  readonly status?: "pending" | "failed";
  readonly cursor?: string;
}

/** Adds `webhooks` below `passbook admin apps`. */
export function addAdminWebhooks(apps: Command): void {
  apps
    .command("webhooks <slug>")
    .description("list the webhooks of an app")
    .action((slug: string, _, command: Command) => list(slug, command.optsWithGlobals()));
  const below = (name: string, description: string): Command =>
    apps
      .command(`${name} <slug> <id>`)
      .description(description)
      .option("--reason <text>", "why; the audit log keeps it");
  below("set-webhook", "create a webhook, or change it; a new one's secret is shown only once")
    .option("--to <url>", "the https address of its receiver")
    .option("--event <events...>", "the events to send, such as job.completed")
    .option("--threshold <credits...>", "balances for credits.low", readThreshold)
    .option("--active", "continue a paused webhook where it stopped")
    .option("--no-active", "pause it; its events are kept")
    .action((slug: string, id: string, _, command: Command) =>
      save(slug, id, command.optsWithGlobals()),
    );
  below("rotate-webhook", "replace a webhook's secret; it is shown only once").action(
    (slug: string, id: string, _, command: Command) => rotate(slug, id, command.optsWithGlobals()),
  );
  below("test-webhook", "send a ping now; exits with 5 if it is not accepted").action(
    (slug: string, id: string, _, command: Command) => test(slug, id, command.optsWithGlobals()),
  );
  below("replay-webhook", "send an account's events again")
    .argument("<identity>", "the account's identity or e-mail address")
    .argument("<line>", "send the events after this ledger entry; 0 for all", readLine)
    .action((slug: string, id: string, identity: string, line: number, _, command: Command) =>
      replay(slug, id, { identity, afterLine: line }, command.optsWithGlobals()),
    );
  below("delete-webhook", "delete a webhook, and its events that were not delivered").action(
    (slug: string, id: string, _, command: Command) => remove(slug, id, command.optsWithGlobals()),
  );
  apps
    .command("deliveries <slug> <id>")
    .description("list the events that were not delivered to a webhook")
    .addOption(
      new Option("--status <status>", "pending: only those that will be tried again").choices([
        "pending",
        "failed",
      ]),
    )
    .option("--cursor <cursor>", "continue a list")
    .action((slug: string, id: string, _, command: Command) =>
      listDeliveries(slug, id, command.optsWithGlobals()),
    );
}

/** The exit code of a check that found a problem, as of `passbook admin health`. */
const EXIT_PROBLEM = 5;

const webhooksOf = async (slug: string, options: GlobalOptions): Promise<Webhooks> =>
  (await signedIn(options)).adminApps.webhooks(slug);

const reasonOf = ({ reason }: WebhookOptions) => (reason === undefined ? {} : { reason });

async function list(slug: string, options: GlobalOptions): Promise<void> {
  const webhooks = await (await webhooksOf(slug, options)).list();
  print(options, { webhooks }, () => {
    const rows = webhooks.map((it) => [
      it.id,
      it.active ? "active" : `paused (${it.paused_reason ?? "by an operator or the app"})`,
      it.last_success_at ?? "never",
      it.last_error === null ? "" : `${it.last_error_at ?? ""} ${it.last_error}`,
      it.events.join(" "),
      it.thresholds.join(" "),
      it.url,
    ]);
    const names = ["ID", "STATE", "LAST SUCCESS", "LAST ERROR", "EVENTS", "THRESHOLDS", "ADDRESS"];
    return rows.length === 0 ? "No webhooks." : table(names, rows);
  });
}

/** Omitted settings keep their values. */
async function save(slug: string, id: string, options: WebhookOptions): Promise<void> {
  const webhooks = await webhooksOf(slug, options);
  const known = (await webhooks.list()).find((it) => it.id === id);
  const url = options.to ?? known?.url;
  const events = options.event ?? known?.events;
  if (url === undefined || events === undefined) {
    const message = `${slug} has no webhook ${id} yet. A new one needs --to and --event.`;
    throw new PassbookError("invalid_argument", message);
  }
  const saved = await webhooks.save(id, {
    url,
    events,
    ...(known === undefined ? {} : { version: known.version }),
    ...(options.threshold === undefined ? {} : { thresholds: options.threshold }),
    ...(options.active === undefined ? {} : { active: options.active }),
    ...reasonOf(options),
  });
  print(options, saved, () =>
    saved.secret === null
      ? `${plain(id)} is saved. The change takes effect everywhere within a minute.`
      : `${saved.secret}\n\nStore it now: it is shown only once.`,
  );
}

async function rotate(slug: string, id: string, options: WebhookOptions): Promise<void> {
  const rotated = await (await webhooksOf(slug, options)).rotate(id, reasonOf(options));
  print(options, rotated, () =>
    rotated.secret === null
      ? "The secret was replaced, but the response with it was lost. Rotate it again."
      : `${rotated.secret}\n\nStore it now: it is shown only once. The previous one signs too for 24 hours.`,
  );
}

async function test(slug: string, id: string, options: WebhookOptions): Promise<void> {
  const tested = await (await webhooksOf(slug, options)).test(id, reasonOf(options));
  const { status, duration_ms, error } = tested;
  print(options, tested, () =>
    error === null
      ? `Accepted with status ${status} after ${duration_ms} ms.`
      : `Not accepted after ${duration_ms} ms: ${error}.`,
  );
  if (error !== null) process.exitCode = EXIT_PROBLEM;
}

async function replay(
  slug: string,
  id: string,
  from: { readonly identity: string; readonly afterLine: number },
  options: WebhookOptions,
): Promise<void> {
  await (await webhooksOf(slug, options)).replay(id, { ...from, ...reasonOf(options) });
  print(options, { ok: true }, () => "The events will be sent again.");
}

async function remove(slug: string, id: string, options: WebhookOptions): Promise<void> {
  await (await webhooksOf(slug, options)).remove(id, reasonOf(options));
  print(options, { ok: true }, () => "Deleted.");
}

async function listDeliveries(slug: string, id: string, options: WebhookOptions): Promise<void> {
  const { status, cursor } = options;
  const page = await (
    await webhooksOf(slug, options)
  ).deliveries(id, {
    ...(status === undefined ? {} : { status }),
    ...(cursor === undefined ? {} : { cursor }),
  });
  print(options, page, () => {
    const rows = page.deliveries.map((it) => [
      it.at,
      it.status,
      String(it.attempts),
      it.retry_at ?? "when it is active",
      it.last_error ?? "",
      it.type,
      String(it.line),
      it.identity_id,
    ]);
    const names = ["LAST TRY", "STATUS", "TRIES", "NEXT TRY", "ERROR", "EVENT", "LINE", "IDENTITY"];
    const text = rows.length === 0 ? "Nothing waits." : table(names, rows);
    return text + more(page.next_cursor);
  });
}

function readThreshold(text: string, before: readonly number[] = []): readonly number[] {
  return [...before, readCredits(text)];
}

function readLine(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("It must be an entry's number.");
  return Number(text);
}
