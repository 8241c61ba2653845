/** A column chart with one column per day. One table below all charts has their numbers. */
import { number } from "../layout/labels.ts";
import { axisFor } from "./scale.ts";

const HEIGHT = 60;

export interface DaysChartProps {
  readonly name: string;
  /** The total over all days, and its unit. */
  readonly total: number;
  readonly unit: string;
  /** Oldest first, without gaps, not negative. */
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

/** Every value above zero gets a visible column. */
function topOf(value: number, high: number): number {
  return Math.round(Math.min(HEIGHT - 1, HEIGHT * (1 - value / high)) * 10) / 10;
}
