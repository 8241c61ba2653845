/** A number of each day as columns. Its numbers stand in a table beside all of its kind. */
import { number } from "../layout/account_words.ts";
import { axisFor } from "./scale.ts";

const HEIGHT = 60;

export interface DaysChartProps {
  readonly name: string;
  /** What the days come to, and of what. */
  readonly total: number;
  readonly unit: string;
  /** Oldest first, none left out, none below zero. */
  readonly values: readonly number[];
  readonly first_day: string;
  readonly last_day: string;
}

export function DaysChart({ name, total, unit, values, first_day, last_day }: DaysChartProps) {
  const { high } = axisFor(values, 4);
  const columns = values
    .map((value, day) => (value === 0 ? "" : `M${day}.5 ${HEIGHT}V${topOf(value, high)}`))
    .join("");
  const most = number(Math.max(0, ...values));
  return (
    <figure class="days">
      <figcaption>
        {name} <strong>{number(total)}</strong> {unit}
      </figcaption>
      <svg
        viewBox={`0 0 ${values.length} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${name} by day, ${first_day} to ${last_day}: at most ${most} on one day. The table below has the numbers.`}
      >
        <path class="days-columns" d={columns} />
      </svg>
      <span class="days-high" aria-hidden="true">
        {number(high)}
      </span>
      <p class="days-span" aria-hidden="true">
        <span>{first_day}</span>
        <span>{last_day}</span>
      </p>
    </figure>
  );
}

/** A day with anything at all is to be seen. */
function topOf(value: number, high: number): number {
  return Math.round(Math.min(HEIGHT - 1, HEIGHT * (1 - value / high)) * 10) / 10;
}
