import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { EACH_MINUTE, OBJECTIVES } from "../../src/domain/error_budget.ts";
import { FIGURE_NAMES, FIGURES } from "../../src/domain/health.ts";
import { readWorkerConfig } from "../../src/commands/wrangler_config.ts";

const page = readFileSync("docs/alerts.md", "utf8");

/** The paragraphs of docs/alerts.md, by their headings. */
function runbook(): Map<string, string> {
  const [, ...paragraphs] = page.split("\n### ");
  return new Map(
    paragraphs.map((text) => {
      const [heading = "", ...lines] = text.split("\n");
      return [heading, lines.join(" ").trim()];
    }),
  );
}

it("each alert has a paragraph in docs/alerts.md, in the same order, and no other paragraph exists", () => {
  const paragraphs = runbook();
  expect([...paragraphs.keys()]).toEqual(FIGURE_NAMES);
  for (const [name, text] of paragraphs) expect(text.length, name).toBeGreaterThan(250);
});

it("the paragraphs state the limits of the code", () => {
  const paragraphs = runbook();
  const stated = {
    fast_burn: `more than ${FIGURES.fast_burn.limit} times`,
    slow_burn: `more than ${FIGURES.slow_burn.limit} times`,
    limited_requests: `More than ${FIGURES.limited_requests.limit}%`,
    database_size: `more than ${FIGURES.database_size.limit}%`,
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
  expect(page).toContain("compares twenty-five figures");
  expect(FIGURE_NAMES).toHaveLength(25);
});

it("the page states the objectives of the code", () => {
  const percent = (target: number) => `${Math.round(10_000 * target) / 100}%`;
  const { wallet_and_jobs, signin } = OBJECTIVES;
  expect(page).toContain(`| wallet and jobs | ${percent(wallet_and_jobs.target)} |`);
  expect(page).toContain(`| sign-in | ${percent(signin.target)} |`);
  for (const route of [...wallet_and_jobs.routes, ...signin.routes]) {
    expect(page).toContain(`\`${route}`);
  }
});

it("the Worker has the trigger of the check of each minute, and that of the schedule", () => {
  expect(readWorkerConfig("wrangler.toml").triggers?.crons).toEqual(["*/10 * * * *", EACH_MINUTE]);
});
