/** The alerts: one for each figure of the service's health, with the query of Workers Logs that finds it. */
import { FIGURE_NAMES, type FigureName } from "../domain/health.ts";

export interface Alert {
  readonly figure: FigureName;
  /** The paragraph of docs/operate.md that says what to do. */
  readonly runbook: string;
  /** Counts in the alert's window. */
  readonly sql: string;
  /** The alert fires if the count is higher. */
  readonly threshold: number;
  readonly window_minutes: number;
}

/** Two runs of the schedule, so that a run that starts late is not missed. */
const WINDOW_MINUTES = 20;

/** Workers Logs keep the fields of a logged object as attributes. */
const attribute = (name: string, value: string): string => `attributes['${name}'] = '${value}'`;

/** Figures that the log shows sooner than the next run of the schedule. */
const DIRECT: Readonly<
  Partial<
    Record<
      FigureName,
      {
        readonly where: string;
        readonly threshold: number;
        readonly window_minutes: number;
        readonly select?: string;
      }
    >
  >
> = {
  failed_requests: {
    where: `${attribute("event", "request")} AND ${attribute("outcome", "failed")}`,
    threshold: 20,
    window_minutes: 5,
  },
  payments_not_booked: {
    where: "attributes['event'] IN ('payment_not_booked', 'purchase_unmatched')",
    threshold: 0,
    window_minutes: 5,
  },
  // A schedule that stopped logs nothing, so its silence counts.
  schedule_age: {
    select: "if(count() = 0, 1, 0)",
    where: attribute("event", "upkeep_completed"),
    threshold: 0,
    window_minutes: 30,
  },
};

/** The alerts of a Worker with this name. */
export function alertsOf(worker: string): readonly Alert[] {
  return FIGURE_NAMES.map((figure) => {
    const {
      select = "count()",
      where,
      threshold,
      window_minutes,
    } = DIRECT[figure] ?? {
      where: `${attribute("event", "health_limit_exceeded")} AND ${attribute("figure", figure)}`,
      threshold: 0,
      window_minutes: WINDOW_MINUTES,
    };
    return {
      figure,
      runbook: `docs/operate.md#${figure}`,
      sql: `SELECT ${select} AS value FROM logs.workersLogs WHERE scriptName = '${worker}' AND logType = 'cf-worker' AND ${where}`,
      threshold,
      window_minutes,
    };
  });
}
