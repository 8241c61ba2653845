/**
 * A column chart with one column per day or hour, from zero to the highest day, which has its number. One table below
 * all charts has their numbers.
 */
import { number } from "../layout/labels.ts";
import { Points } from "./parts.tsx";
import { y } from "./scale.ts";

const HEIGHT = 60;

/** More days have no points to read, because their text would make the page too large. The table has their numbers. */
const POINTS_MAX_DAYS = 31;

interface DaysChartProps {
  readonly id: string;
  /** What each column stands for; a day if left out. The names below are then those of hours. */
  readonly per?: "day" | "hour";
  readonly name: string;
  /** The total over all days, and its unit. */
  readonly total: number;
  readonly unit: string;
  /** Oldest first, without gaps, not negative. */
  readonly values: readonly number[];
  /** The name of each day. */
  readonly days: readonly string[];
}

export function DaysChart(props: DaysChartProps) {
  const { id, name, total, unit, values, days, per = "day" } = props;
  const most = Math.max(0, ...values);
  const [first_day, last_day] = [days[0] ?? "", days.at(-1) ?? ""];
  return (
    <figure class="days">
      <figcaption>
        {name} <strong>{number(total)}</strong> {unit}
      </figcaption>
      {most === 0 ? (
        <p class="days-none">{`None in these ${per}s.`}</p>
      ) : (
        <div class="days-plot">
          <svg viewBox={`0 0 ${values.length} ${HEIGHT}`} preserveAspectRatio="none" role="img">
            <title>
              {`${name} by ${per}, ${first_day} to ${last_day}: at most ${number(most)} ${per === "day" ? "on" : "in"} one ${per}. The table below has the numbers.`}
            </title>
            <path class="days-columns" d={columns(values, most)} />
          </svg>
          {values.length > POINTS_MAX_DAYS ? null : (
            <Points
              id={id}
              name={`${name} by ${per}`}
              texts={values.map((value, day) => `${days[day]}: ${number(value)}`)}
            />
          )}
          <HighestDay day={values.indexOf(most)} of={values.length} value={most} />
        </div>
      )}
      <p class="days-span" aria-hidden="true">
        <span>{first_day}</span>
        <span>{last_day}</span>
      </p>
    </figure>
  );
}

/** The number of the highest day, above its column. The text stays within the chart. */
function HighestDay({ day, of, value }: { day: number; of: number; value: number }) {
  const share = (day + 0.5) / of;
  const anchor = share < 0.25 ? "start" : share > 0.75 ? "end" : "middle";
  return (
    <svg class="days-high" aria-hidden="true">
      <text x={`${Math.round(share * 1000) / 10}%`} y="100%" dy="-0.3em" text-anchor={anchor}>
        {number(value)}
      </text>
    </svg>
  );
}

/** Every value above zero gets a visible column. */
function columns(values: readonly number[], most: number): string {
  const frame = { axis: { low: 0, high: most }, height: HEIGHT };
  return values
    .map((value, day) =>
      value === 0 ? "" : `M${day}.5 ${HEIGHT}V${Math.min(HEIGHT - 1, y(value, frame))}`,
    )
    .join("");
}
