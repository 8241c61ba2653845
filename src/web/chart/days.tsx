/** A column chart with one column per day. One table below all charts has their numbers. */
import { number } from "../layout/labels.ts";
import { Break, breakText, Points } from "./parts.tsx";
import { axesFor, y } from "./scale.ts";

const HEIGHT = 60;

/** More days have no points to read, because their text would make the page too large. The table has their numbers. */
const POINTS_MAX_DAYS = 31;

export interface DaysChartProps {
  readonly id: string;
  readonly name: string;
  /** The total over all days, and its unit. */
  readonly total: number;
  readonly unit: string;
  /** Oldest first, without gaps, not negative. */
  readonly values: readonly number[];
  /** The name of each day. */
  readonly days: readonly string[];
}

export function DaysChart({ id, name, total, unit, values, days }: DaysChartProps) {
  const most = Math.max(0, ...values);
  const [first_day, last_day] = [days[0] ?? "", days.at(-1) ?? ""];
  const axes = axesFor(values, 4);
  return (
    <figure class="days">
      <figcaption>
        {name} <strong>{number(total)}</strong> {unit}
      </figcaption>
      {most === 0 ? (
        <p class="days-none">None in these days.</p>
      ) : (
        <div class="days-plot">
          <svg viewBox={`0 0 ${values.length} ${HEIGHT}`} preserveAspectRatio="none" role="img">
            <title>
              {`${name} by day, ${first_day} to ${last_day}: at most ${number(most)} on one day. The table below has the numbers.`}
            </title>
            <Break axes={axes} width={values.length} height={HEIGHT} />
            <path class="days-columns" d={columns(values, axes)} />
          </svg>
          {values.length > POINTS_MAX_DAYS ? null : (
            <Points
              id={id}
              name={`${name} by day`}
              texts={values.map((value, day) => `${days[day]}: ${number(value)}`)}
            />
          )}
          <span class="days-high" aria-hidden="true">
            {number(axes.at(-1)?.high ?? most)}
          </span>
        </div>
      )}
      <p class="days-span" aria-hidden="true">
        <span>{first_day}</span>
        <span>{last_day}</span>
      </p>
      {breakText(axes) === null ? null : <p class="days-span">{breakText(axes)}</p>}
    </figure>
  );
}

/** Every value above zero gets a visible column. */
function columns(values: readonly number[], axes: ReturnType<typeof axesFor>): string {
  const topOf = (value: number): number => Math.min(HEIGHT - 1, y(value, { axes, height: HEIGHT }));
  return values
    .map((value, day) => (value === 0 ? "" : `M${day}.5 ${HEIGHT}V${topOf(value)}`))
    .join("");
}
