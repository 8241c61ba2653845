/** The service's health on the console's first page: the warnings, and each figure with its limit, one line when all is well. */
import type { readHealth } from "../../operator/read_health.ts";
import { counted, nameFromSlug, number } from "../layout/labels.ts";
import { FIGURE_MEANINGS, FIGURE_SCOPES, HEALTH_REASONS, figureName } from "./labels.ts";
import { Panel } from "./panel.tsx";
import { Table } from "./table.tsx";

type HealthView = Awaited<ReturnType<typeof readHealth>>;
type Figure = HealthView["figures"][number];

type HealthPanelProps = HealthView & { readonly appName: (slug: string | null) => string };

export function HealthPanel({ figures, tasks, budgets, as_of, appName }: HealthPanelProps) {
  const last_run = figures.find(({ name }) => name === "schedule_age")?.newest_at ?? null;
  const warnings = figures.filter(({ status }) => status === "warning");
  const failing = (tasks ?? []).filter(({ failing_since }) => failing_since !== null);
  return (
    <Panel
      id="health"
      title="Health"
      aside={
        warnings.length === 0 ? (
          <span class="tag is-good">Everything is within its limits</span>
        ) : (
          <span class="tag is-bad">{counted(warnings.length, "warning", "warnings")}</span>
        )
      }
    >
      {warnings.map((figure) => (
        <Warning {...figure} />
      ))}
      {warnings.length === 0 ? (
        <details class="numbers">
          <summary>Show the figures</summary>
          <Figures figures={figures} />
        </details>
      ) : (
        <Figures figures={figures} />
      )}
      {failing.length === 0 ? null : (
        <>
          <h3>Tasks of the schedule that failed in their last run</h3>
          <Table
            label="Failed tasks"
            columns={["Task", "Failing since", "Reason"]}
            rows={failing.map(({ task, failing_since, reason }) => [
              nameFromSlug(task),
              <Moment at={failing_since ?? as_of} />,
              reason ?? "",
            ])}
            empty=""
          />
        </>
      )}
      {budgets === null || budgets.length === 0 ? null : (
        <>
          <h3>Starter budgets today</h3>
          <Table
            label="Starter budgets today"
            columns={["App", { amount: "Granted" }, { amount: "Budget" }, "State"]}
            rows={budgets.map(({ app, used, limit, used_up }) => [
              <a href={`/console/apps/${app}`}>{appName(app)}</a>,
              number(used),
              number(limit),
              used_up ? <span class="tag is-bad">Used up</span> : "Credits left",
            ])}
            empty=""
          />
        </>
      )}
      <Times as_of={as_of} last_run={last_run} />
    </Panel>
  );
}

/** The link to what the daily proof found, and the times of the figures. */
function Times({ as_of, last_run }: Pick<HealthView, "as_of"> & { last_run: string | null }) {
  return (
    <>
      <p>
        <a href="/console/differences">Differences between accounts and their copies</a>
      </p>
      <p class="zone">
        {last_run === null ? null : (
          <>
            The schedule last ended at <Moment at={last_run} />.{" "}
          </>
        )}
        These figures were read at <Moment at={as_of} />. Days are UTC.
      </p>
    </>
  );
}

function Figures({ figures }: Pick<HealthView, "figures">) {
  return (
    <dl class="figures">
      {figures.map((figure) => (
        <FigureBox {...figure} />
      ))}
    </dl>
  );
}

function FigureBox(figure: Figure) {
  return (
    <div class={figure.status === "warning" ? "is-bad" : undefined}>
      <dt>
        {figureName(figure.name)} <span class="hint">{FIGURE_SCOPES[figure.name]}</span>
      </dt>
      <dd>
        <strong>{valueText(figure)}</strong>
        <span class="hint limit">{limitText(figure)}</span>
      </dd>
    </div>
  );
}

function Warning(figure: Figure) {
  return (
    <div class="problem">
      <p>
        <strong>
          {figureName(figure.name)}: {valueText(figure)}
          {figure.value === null ? "." : `, ${limitText(figure)}.`}
        </strong>{" "}
        {figure.value === null ? null : FIGURE_MEANINGS[figure.name]}
      </p>
      <p class="hint">
        {figure.reason === null ? null : <>Cause: {reasonText(figure.reason)}. </>}
        {figure.newest_at === null ? null : (
          <>
            Newest: <Moment at={figure.newest_at} />.{" "}
          </>
        )}
        <a href={`/console/help/alerts#${figure.name}`}>What to do</a>
      </p>
    </div>
  );
}

function Moment({ at }: { readonly at: string }) {
  return (
    <time datetime={at}>
      {at.slice(0, 10)}, {at.slice(11, 19)} UTC
    </time>
  );
}

function valueText({ status, value, unit }: Figure): string {
  if (value === null) return status === "ok" ? "not set" : "unknown";
  return amountText(value, unit);
}

/** Without a unit, which the value has, except for a time. */
function limitText({ limit, unit }: Figure): string {
  if (limit === null) return "no limit";
  return `limit ${unit === "seconds" ? amountText(limit, unit) : number(limit)}`;
}

/** Seconds in the largest unit that fits. */
function amountText(value: number, unit: string): string {
  if (unit !== "seconds") return `${number(value)} ${value === 1 ? unit.replace(/s$/, "") : unit}`;
  if (value < 120) return `${number(value)} s`;
  return value < 7_200
    ? `${number(Math.round(value / 60))} min`
    : `${number(Math.round(value / 3_600))} h`;
}

function reasonText(reason: string): string {
  return HEALTH_REASONS[reason] ?? reason;
}
