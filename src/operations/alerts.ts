/**
 * Wakes an operator: logs each warning, and sends a message when a figure becomes a warning, once a day while it stays
 * one, and when it is fine again, a quarter of an hour later at the earliest. A warning that gets much worse is sent again
 * at once, and a bad one each hour.
 */
import type { Figure } from "../domain/health.ts";
import { errorName } from "../domain/result.ts";
import type { Health } from "./health.ts";

/** How long after a message the same warning is sent again. */
const REPEAT_AFTER_MS = 24 * 60 * 60_000;

/** The same for a value above {@link MUCH} times its limit. */
const REPEAT_BAD_AFTER_MS = 60 * 60_000;

/** A value that is this many times as high as in the last message is sent again at once. */
const MUCH = 10;

/** No warning ends sooner after its message, so a figure that moves around its limit does not send one a minute. */
const ENDS_AFTER_MS = 15 * 60_000;

/** How long the receiver may take. */
const SEND_TIMEOUT_MS = 10_000;

interface SentWarning {
  readonly name: string;
  readonly sent_at_ms: number;
  /** Null: it was unknown. */
  readonly value: number | null;
}

interface AlertParts {
  /** The figures that this run judges. Another run's figures keep their records. */
  readonly readFigures: () => Promise<Pick<Health, "figures" | "read_at_ms">>;
  /** Null: warnings are only logged. A secret. */
  readonly webhook_url: string | null;
  /** The service's address, for the message; null in development. */
  readonly base_url: string | null;
  readonly records: {
    list(): Promise<readonly SentWarning[]>;
    /** Replaces the records of these figures. */
    replace(names: readonly string[], records: readonly SentWarning[]): Promise<void>;
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
  let health = await parts.readFigures();
  // One more read, so that a single slow response of D1 wakes nobody.
  if (health.figures.some(({ status, value }) => status === "warning" && value === null)) {
    health = await parts.readFigures();
  }
  const warnings = health.figures.filter(({ status }) => status === "warning");
  for (const { name, value, limit, unit, reason } of warnings) {
    console.error({ event: "health_limit_exceeded", figure: name, value, limit, unit, reason });
  }
  const { webhook_url } = parts;
  if (webhook_url === null) return;
  try {
    await sendChanges({ ...parts, webhook_url }, health);
  } catch (error) {
    // Only the kind of the error: its message may quote the address.
    console.error({ event: "alert_failed", reason: errorName(error) });
  }
}

async function sendChanges(
  { records, webhook_url, base_url }: AlertParts & { readonly webhook_url: string },
  { figures, read_at_ms: now_ms }: Pick<Health, "figures" | "read_at_ms">,
): Promise<void> {
  const warnings = figures.filter(({ status }) => status === "warning");
  // While the directory does not respond, each run sends what it sees.
  const sent = await records.list().catch(() => null);
  const last = new Map<string, SentWarning>(sent?.map((record) => [record.name, record]));
  const isNews = (figure: Figure): boolean => isDue(figure, last.get(figure.name), now_ms);
  const due = warnings.filter(isNews);
  const names = new Set<string>(warnings.map(({ name }) => name));
  const judged = figures.map(({ name }) => name);
  const fine = judged.filter((name) => last.has(name) && !names.has(name));
  const isOver = (name: string): boolean =>
    now_ms - (last.get(name)?.sent_at_ms ?? 0) >= ENDS_AFTER_MS;
  const recovered = fine.filter(isOver);
  const open = fine.flatMap((name) => (isOver(name) ? [] : (last.get(name) ?? [])));
  const of_others = [...last.keys()].filter((name) => !judged.some((it) => it === name));
  if (due.length === 0 && recovered.length === 0) return;
  const warning_count = warnings.length + open.length + of_others.length;
  await post(webhook_url, messageOf(base_url, due, recovered, warning_count));
  console.log({ event: "alert_sent", warnings: due.map(({ name }) => name), recovered });
  const told = warnings.map((figure) => {
    const now = { name: figure.name, sent_at_ms: now_ms, value: figure.value };
    return isNews(figure) ? now : (last.get(figure.name) ?? now);
  });
  await records.replace(judged, [...told, ...open]);
}

/** Whether so much more is lost than in the last message that it is sent again. A share is: half of what was left is used. */
function hasGrown({ value, unit }: Figure, last_value: number): boolean {
  if (value === null) return false;
  const is_of_a_share = unit === "percent" && 100 - value <= (100 - last_value) / 2;
  return value >= MUCH * last_value || is_of_a_share;
}

/** Whether a warning needs a message now, after the `last` one about it. */
function isDue(figure: Figure, last: SentWarning | undefined, now_ms: number): boolean {
  const { value, limit } = figure;
  // The message before did not say how bad it is.
  if (last === undefined || (last.value === null && value !== null)) return true;
  // Figures without a tolerated value have the limit 0. A single one of those is not bad yet.
  const tolerated = Math.max(limit ?? 0, 1);
  const is_bad = value !== null && value > MUCH * tolerated;
  const repeat_ms = is_bad ? REPEAT_BAD_AFTER_MS : REPEAT_AFTER_MS;
  return hasGrown(figure, last.value ?? tolerated) || now_ms - last.sent_at_ms >= repeat_ms;
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
