import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { alertsOf } from "../../../src/commands/alert_list.ts";
import { FIGURE_NAMES, FIGURES } from "../../../src/domain/health.ts";

const operate = readFileSync("docs/operate.md", "utf8");

/** The section "Alerts" of docs/operate.md, by the headings in it. */
function runbook(): Map<string, string> {
  const [, section = ""] = operate.split("\n## Alerts\n");
  const [, ...paragraphs] = (section.split("\n## ")[0] ?? "").split("\n### ");
  return new Map(
    paragraphs.map((text) => {
      const [heading = "", ...lines] = text.split("\n");
      return [heading, lines.join(" ").trim()];
    }),
  );
}

it("each alert has a paragraph in docs/operate.md, in the same order, and no other paragraph exists", () => {
  const paragraphs = runbook();
  expect([...paragraphs.keys()]).toEqual(FIGURE_NAMES);
  expect(alertsOf("passbook").map((alert) => alert.runbook)).toEqual(
    FIGURE_NAMES.map((name) => `docs/operate.md#${name}`),
  );
  for (const [name, text] of paragraphs) expect(text.length, name).toBeGreaterThan(250);
});

it("the paragraphs state the limits of the code", () => {
  const paragraphs = runbook();
  const stated = {
    failed_requests: `More than ${FIGURES.failed_requests.limit} responses`,
    read_model_lag: `more than ${FIGURES.read_model_lag.limit / 60} minutes`,
    failed_deliveries: `More than ${FIGURES.failed_deliveries.limit} deliveries`,
    overdue_jobs: FIGURES.overdue_jobs.limit === 7_200 ? "more than two hours" : "?",
    schedule_age: `for ${FIGURES.schedule_age.limit / 60} minutes`,
    failed_payment_events: `More than ${FIGURES.failed_payment_events.limit} genuine`,
  };
  for (const [name, text] of Object.entries(stated)) {
    expect(paragraphs.get(name), name).toContain(text);
  }
  expect(operate).toContain("compares twelve figures");
  expect(FIGURE_NAMES).toHaveLength(12);
});

it("the queries of the alerts find only events that the Worker logs", () => {
  const [, table = ""] = operate.split("| `event` |");
  const events = alertsOf("passbook").flatMap(({ sql }) =>
    [...sql.matchAll(/attributes\['event'\] (?:= |IN \()([^)]*?)(?:\)|$| AND)/g)].flatMap(
      ([, names = ""]) => [...names.matchAll(/'([a-z_]+)'/g)].map(([, name = ""]) => name),
    ),
  );
  expect(events.length).toBeGreaterThanOrEqual(FIGURE_NAMES.length);
  for (const event of events) expect(table, event).toContain(`\`${event}\``);
});

it(
  "npm run alerts prints the alerts of the Worker that the configuration names",
  { tags: ["slow"] },
  () => {
    const folder = mkdtempSync(join(tmpdir(), "passbook-alerts-"));
    try {
      const config = join(folder, "wrangler.toml");
      writeFileSync(config, 'name = "passbook-staging"\n');
      const run = (...more: string[]): string =>
        execFileSync("node", ["src/commands/run.js", "alerts", "--config", config, ...more], {
          encoding: "utf8",
        });
      const alerts = JSON.parse(run("--json")) as { sql: string }[];
      expect(alerts).toEqual(alertsOf("passbook-staging"));
      const printed = run();
      for (const { sql } of alerts) {
        expect(sql).toContain("scriptName = 'passbook-staging'");
        expect(printed).toContain(sql);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);
