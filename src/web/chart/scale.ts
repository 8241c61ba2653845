/** The geometry of charts: axes with round numbers, and the path of a step line. Pure. */

export interface Axis {
  /** Evenly spaced, from the lowest to the highest. */
  readonly ticks: readonly number[];
  readonly low: number;
  readonly high: number;
}

/** An axis of round whole numbers over all values and zero, in at most `intervals` intervals, at least 1 high. */
export function axisFor(values: readonly number[], intervals: number): Axis {
  return axisBetween(Math.min(0, ...values), Math.max(0, ...values), intervals);
}

function axisBetween(lowest: number, highest: number, intervals: number): Axis {
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

/** The part of the values between which an axis is left out. */
const GAP_SHARE = 0.6;

/**
 * One axis over all values, or two, the lower one first: if one large change leaves most of the axis without values, it
 * would flatten the small changes below, so the axis leaves that part out.
 */
export function axesFor(values: readonly number[], intervals: number): readonly Axis[] {
  const sorted = [...new Set([0, ...values])].toSorted((one, other) => one - other);
  const [lowest = 0, highest = 0] = [sorted[0], sorted.at(-1)];
  const gaps = sorted.slice(1).map((value, at) => value - (sorted[at] ?? 0));
  const widest = Math.max(0, ...gaps);
  const below = sorted.slice(0, gaps.indexOf(widest) + 1);
  const above = sorted.slice(below.length);
  // A single value next to zero has nothing that could be flattened.
  const is_split = widest > GAP_SHARE * (highest - lowest) && below.length > 2;
  if (!is_split) return [axisFor(values, intervals)];
  const fewer = Math.max(1, intervals - 1);
  const lower = axisFor(below, fewer);
  const upper = axisBetween(above[0] ?? highest, highest, fewer);
  return lower.high < upper.low ? [lower, upper] : [axisFor(values, intervals)];
}

export interface ChartPoint {
  readonly at: number;
  readonly value: number;
}

/** The range of times and the axes of a chart, and its size. */
export interface Frame {
  readonly from: number;
  readonly to: number;
  readonly axes: readonly Axis[];
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

/** Each of two axes has this share of the height; what they leave out has the rest. */
export const AXIS_SHARE = 0.45;

/** The distance of a value from the top. */
export function y(value: number, { axes, height }: Pick<Frame, "axes" | "height">): number {
  const at = Math.max(
    0,
    axes.findIndex(({ high }) => value <= high),
  );
  const axis = axes[at];
  if (axis === undefined) return height;
  const share = axes.length === 1 ? 1 : AXIS_SHARE;
  const bottom = at === 0 ? height : height * AXIS_SHARE;
  return round(bottom - ((value - axis.low) / (axis.high - axis.low)) * height * share);
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
