import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { FIGURE_NAMES, FIGURES } from "../../src/domain/health.ts";

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
  expect(page).toContain("compares twenty-one figures");
  expect(FIGURE_NAMES).toHaveLength(21);
});
