/** `passbook admin health`: the service's figures, with an exit code for scripts. */
import type { Admin, Health } from "../client/index.ts";
import { print, table } from "./output.ts";
import type { GlobalOptions } from "./session.ts";

/** The exit code if a figure is a warning. The other codes are in `main.ts`. */
const WARNING_EXIT_CODE = 5;

export async function showHealth(admin: Admin, options: GlobalOptions): Promise<void> {
  const health = await admin.health();
  print(options, health, () => textOf(health));
  if (health.status === "warning") process.exitCode = WARNING_EXIT_CODE;
}

function textOf({ status, figures, tasks, budgets }: Health): string {
  const rows = figures.map(({ name, status, value, limit, unit, newest_at, reason }) => [
    name,
    status === "ok" ? "ok" : "WARNING",
    value === null ? "unknown" : `${value} ${unit}`,
    limit === null ? "" : String(limit),
    newest_at ?? "",
    reason ?? "",
  ]);
  const parts = [table(["FIGURE", "STATUS", "VALUE", "LIMIT", "NEWEST", "REASON"], rows)];
  const failing = (tasks ?? []).filter(({ failing_since }) => failing_since !== null);
  if (failing.length > 0) {
    const failed = failing.map((it) => [it.task, it.failing_since ?? "", it.reason ?? ""]);
    parts.push(table(["FAILING TASK", "SINCE", "REASON"], failed));
  }
  if (budgets !== null && budgets.length > 0) {
    const used = budgets.map((it) => [it.app, String(it.used), String(it.limit)]);
    parts.push(table(["APP", "STARTER CREDITS TODAY", "BUDGET"], used));
  }
  const summary =
    status === "ok"
      ? "Every figure is within its limit."
      : 'Something needs attention: docs/operate.md, "Alerts", has a paragraph for each figure.';
  return [...parts, summary].join("\n\n");
}
