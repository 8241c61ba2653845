/** The balance over time: a step chart, and the same numbers as a table. */
import type { BalancePoint } from "../../domain/history.ts";
import { DAY_MS } from "../../domain/calendar.ts";
import { t } from "../language/text.tsx";
import { Time } from "../layout/time.tsx";
import { credits, number } from "../layout/labels.ts";
import { Points } from "./parts.tsx";
import { axisFor, columnsOf, stepArea, stepPath, y } from "./scale.ts";

const WIDTH = 640;
const HEIGHT = 160;

/** Points to read, one a day in a month. */
const POINTS = 30;

interface BalanceChartProps {
  readonly points: readonly BalancePoint[];
  readonly from_ms: number;
  readonly to_ms: number;
}

export function BalanceChart({ points, from_ms, to_ms }: BalanceChartProps) {
  const values = points.map((point) => point.credits);
  const axis = axisFor(values, 3);
  const frame = { from: from_ms, to: to_ms, axis, width: WIDTH, height: HEIGHT };
  const steps = points.map((point) => ({ at: point.at_ms, value: point.credits }));
  const first = points[0]?.credits ?? 0;
  const last = points.at(-1)?.credits ?? 0;
  const spans_days = to_ms - from_ms > 3 * DAY_MS;
  const summary = t("Balance from {first} to {last} credits, between {least} and {most}.", {
    first: number(first),
    last: number(last),
    least: number(Math.min(...values)),
    most: number(Math.max(...values)),
  });
  const style = spans_days ? "date" : "clock";
  const times = [from_ms, (from_ms + to_ms) / 2, to_ms].filter(
    (at_ms, index, all) => minuteOf(at_ms) !== minuteOf(all[index - 1] ?? 0),
  );
  return (
    <figure class="chart">
      <div class="chart-plot">
        <div class="chart-values" aria-hidden="true">
          {axis.ticks.toReversed().map((tick) => (
            <span>{number(tick)}</span>
          ))}
        </div>
        <div class="chart-lines">
          <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img">
            <title>{summary}</title>
            {axis.ticks.map((tick) => (
              <line
                class={tick === 0 ? "chart-zero" : "chart-grid"}
                x1="0"
                x2={WIDTH}
                y1={y(tick, frame)}
                y2={y(tick, frame)}
              />
            ))}
            <path class="chart-area" d={stepArea(steps, frame)} />
            <path class="chart-line" d={stepPath(steps, frame)} />
          </svg>
          <Points
            id="balance-at"
            name={t("Balance over time")}
            texts={columnsOf(steps, frame, POINTS).map(({ at, value }) => (
              <>
                <Time at_ms={at} style={style} />:{" "}
                {value === null ? t("no balance yet") : credits(value)}
              </>
            ))}
          />
        </div>
        <div class="chart-times" aria-hidden="true">
          {times.map((at_ms) => (
            <Time at_ms={at_ms} style={style} />
          ))}
        </div>
      </div>
      <Numbers points={points} />
    </figure>
  );
}

function Numbers({ points }: Pick<BalanceChartProps, "points">) {
  return (
    <details class="numbers">
      <summary>{t("Show the numbers")}</summary>
      <div
        class="scroll"
        tabindex={0}
        role="region"
        aria-label={t("Balance over time, in numbers")}
      >
        <table>
          <thead>
            <tr>
              <th scope="col">{t("From")}</th>
              <th scope="col" class="amount">
                {t("Balance")}
              </th>
            </tr>
          </thead>
          <tbody>
            {points.toReversed().map((point) => (
              <tr>
                <td>
                  <Time at_ms={point.at_ms} />
                </td>
                <td class="amount">{number(point.credits)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

/** A time that differs only in seconds would be the same text. */
const minuteOf = (at_ms: number): number => Math.floor(at_ms / 60_000);
