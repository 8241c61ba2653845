/** The geometry of charts: axes with round numbers, and the path of a step line. Pure. */

interface Axis {
  /** Evenly spaced, from the lowest to the highest. */
  readonly ticks: readonly number[];
  readonly low: number;
  readonly high: number;
}

/**
 * An axis of round whole numbers over all values and zero, in at most `intervals` intervals, at least 1 high. It always
 * includes zero and leaves nothing out: a column or line twice as high is twice as much.
 */
export function axisFor(values: readonly number[], intervals: number): Axis {
  const [lowest, highest] = [Math.min(0, ...values), Math.max(0, ...values)];
  let step = roundStep(Math.max(1, highest - lowest) / intervals);
  while (Math.ceil(highest / step) - Math.floor(lowest / step) > intervals) {
    step = roundStep(step * 1.01);
  }
  const low = Math.floor(lowest / step) * step;
  const high = Math.max(Math.ceil(highest / step) * step, low + step);
  const count = Math.round((high - low) / step);
  return { ticks: Array.from({ length: count + 1 }, (_, at) => low + at * step), low, high };
}

/** The smallest of 1, 2, 5, 10, 20, … that is at least `least`. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  const found = [1, 2, 5, 10].find((factor) => factor * power >= least);
  return (found ?? 10) * power;
}

interface ChartPoint {
  readonly at: number;
  readonly value: number;
}

/** The range of times and the axis of a chart, and its size. */
export interface Frame {
  readonly from: number;
  readonly to: number;
  readonly axis: Pick<Axis, "low" | "high">;
  readonly width: number;
  readonly height: number;
}

/** The SVG path of a line that keeps each value until the next point; "" without points. */
export function stepPath(points: readonly ChartPoint[], frame: Frame): string {
  const [first, ...rest] = points;
  if (first === undefined) return "";
  const steps = rest.map(({ at, value }) => `H${x(at, frame)}V${y(value, frame)}`).join("");
  return `M${x(first.at, frame)} ${y(first.value, frame)}${steps}H${frame.width}`;
}

/** The SVG path of the area between that line and zero. */
export function stepArea(points: readonly ChartPoint[], frame: Frame): string {
  const [first] = points;
  if (first === undefined) return "";
  return `${stepPath(points, frame)}V${y(0, frame)}H${x(first.at, frame)}Z`;
}

/** The distance of a value from the top. */
export function y(value: number, { axis, height }: Pick<Frame, "axis" | "height">): number {
  return round(height - ((value - axis.low) / (axis.high - axis.low)) * height);
}

/** The last value in each of `count` equal parts of the time, at its end; null before the first point. */
export function columnsOf(
  points: readonly ChartPoint[],
  { from, to }: Pick<Frame, "from" | "to">,
  count: number,
): readonly { readonly at: number; readonly value: number | null }[] {
  return Array.from({ length: count }, (_, column) => {
    const at = from + ((column + 1) * (to - from)) / count;
    return { at, value: points.findLast((point) => point.at <= at)?.value ?? null };
  });
}

function x(at: number, { from, to, width }: Frame): number {
  return round(((at - from) / Math.max(1, to - from)) * width);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
