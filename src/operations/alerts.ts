/**
 * Wakes an operator: logs each warning, and sends a message when a figure becomes a warning, once a day while it stays
 * one, and when it is fine again. A warning that gets much worse is sent again at once, and a bad one each hour.
 */
import { FIGURE_NAMES, type Figure } from "../domain/health.ts";
import { errorName } from "../domain/result.ts";
import type { ReadHealth } from "./health.ts";

/** How long after a message the same warning is sent again. */
const REPEAT_AFTER_MS = 24 * 60 * 60_000;

/** The same for a value above {@link MUCH} times its limit. */
const REPEAT_BAD_AFTER_MS = 60 * 60_000;

/** A value that is this many times as high as in the last message is sent again at once. */
const MUCH = 10;

/** How long the receiver may take. */
const SEND_TIMEOUT_MS = 10_000;

interface SentWarning {
  readonly name: string;
  readonly sent_at_ms: number;
  /** Null: it was unknown. */
  readonly value: number | null;
}

interface AlertParts {
  readonly readHealth: ReadHealth;
  /** Null: warnings are only logged. A secret. */
  readonly webhook_url: string | null;
  /** The service's address, for the message; null in development. */
  readonly base_url: string | null;
  readonly records: {
    list(): Promise<readonly SentWarning[]>;
    replace(records: readonly SentWarning[]): Promise<void>;
  };
}

/** The message, in the form that Slack's incoming webhooks take; other receivers use the other fields. */
interface AlertMessage {
  readonly text: string;
  readonly service: string | null;
  readonly status: "warning" | "ok";
  readonly warnings: readonly Figure[];
  readonly recovered: readonly string[];
}

/** Never throws. A message that was not accepted is sent again by the next run. */
export async function sendAlerts(parts: AlertParts): Promise<void> {
  let health = await parts.readHealth();
  // One more read, so that a single slow response of D1 wakes nobody.
  if (health.figures.some(({ value }) => value === null)) health = await parts.readHealth();
  const warnings = health.figures.filter(({ status }) => status === "warning");
  for (const { name, value, limit, unit, reason } of warnings) {
    console.error({ event: "health_limit_exceeded", figure: name, value, limit, unit, reason });
  }
  const { webhook_url } = parts;
  if (webhook_url === null) return;
  try {
    await sendChanges({ ...parts, webhook_url }, warnings, health.read_at_ms);
  } catch (error) {
    // Only the kind of the error: its message may quote the address.
    console.error({ event: "alert_failed", reason: errorName(error) });
  }
}

async function sendChanges(
  { records, webhook_url, base_url }: AlertParts & { readonly webhook_url: string },
  warnings: readonly Figure[],
  now_ms: number,
): Promise<void> {
  // While the directory does not respond, each run sends what it sees.
  const sent = await records.list().catch(() => null);
  const last = new Map<string, SentWarning>(sent?.map((record) => [record.name, record]));
  const isNews = (figure: Figure): boolean => isDue(figure, last.get(figure.name), now_ms);
  const due = warnings.filter(isNews);
  const names = new Set<string>(warnings.map(({ name }) => name));
  const recovered = FIGURE_NAMES.filter((name) => last.has(name) && !names.has(name));
  if (due.length === 0 && recovered.length === 0) return;
  await post(webhook_url, messageOf(base_url, due, recovered, warnings.length));
  console.log({ event: "alert_sent", warnings: due.map(({ name }) => name), recovered });
  await records.replace(
    warnings.map((figure) => {
      const now = { name: figure.name, sent_at_ms: now_ms, value: figure.value };
      return isNews(figure) ? now : (last.get(figure.name) ?? now);
    }),
  );
}

/** Whether a warning needs a message now, after the `last` one about it. */
function isDue({ value, limit }: Figure, last: SentWarning | undefined, now_ms: number): boolean {
  if (last === undefined) return true;
  // Figures without a tolerated value have the limit 0. A single one of those is not bad yet.
  const tolerated = Math.max(limit ?? 0, 1);
  const is_bad = value !== null && value > MUCH * tolerated;
  const has_grown = value !== null && value >= MUCH * (last.value ?? tolerated);
  const repeat_ms = is_bad ? REPEAT_BAD_AFTER_MS : REPEAT_AFTER_MS;
  return has_grown || now_ms - last.sent_at_ms >= repeat_ms;
}

function messageOf(
  service: string | null,
  due: readonly Figure[],
  recovered: readonly string[],
  warning_count: number,
): AlertMessage {
  const lines = [
    ...due.map(({ name, value, limit, unit, reason }) =>
      [
        `WARNING ${name}: ${value === null ? "unknown" : `${value} ${unit}`}`,
        limit === null || value === null ? "" : `, limit ${limit}`,
        reason === null ? "" : ` (${reason})`,
      ].join(""),
    ),
    ...recovered.map((name) => `OK again ${name}`),
  ];
  const where = service === null ? "" : ` ${service}/console`;
  const advice = "docs/alerts.md says what to do.";
  return {
    text: [`Passbook${where}`, ...lines, advice].join("\n"),
    service,
    status: warning_count === 0 ? "ok" : "warning",
    warnings: due,
    recovered,
  };
}

/** @throws if the receiver does not accept the message. */
async function post(url: string, message: AlertMessage): Promise<void> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(message),
    // The message would go to another address than the operator chose.
    redirect: "manual",
    signal: AbortSignal.timeout(SEND_TIMEOUT_MS),
  });
  await response.body?.cancel();
  if (!response.ok) throw new AlertRefused(response.status);
}

class AlertRefused extends Error {
  constructor(status: number) {
    super("the receiver refused the message");
    this.name = `status_${status}`;
  }
}
