/** Parts of several charts: the points to read with a pointer or the keyboard, and an axis that leaves a part out. */
import type { Child } from "hono/jsx";
import { number } from "../layout/labels.ts";
import { AXIS_SHARE, type Axis } from "./scale.ts";

/**
 * One column for each point, with its text, which a pointer shows by hovering. With the keyboard it is one stop, and the
 * arrow keys go from point to point, because the columns are radio buttons. This needs no script.
 */
export function Points(props: {
  readonly id: string;
  readonly name: string;
  readonly texts: readonly Child[];
}) {
  const { id, name, texts } = props;
  return (
    <fieldset class="points">
      <legend class="unseen">{name}</legend>
      {texts.map((text) => (
        <label>
          <input type="radio" name={id} />
          <span>{text}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** Marks the part of the values that two axes leave out. */
export function Break({
  axes,
  width,
  height,
}: {
  axes: readonly Axis[];
  width: number;
  height: number;
}) {
  if (axes.length === 1) return null;
  const top = height * AXIS_SHARE;
  return <rect class="chart-break" x="0" y={top} {...{ width }} height={height - 2 * top} />;
}

/** The part that two axes leave out, as a sentence; null: none. */
export function breakText([lower, upper]: readonly Axis[]): string | null {
  if (lower === undefined || upper === undefined) return null;
  return `The scale leaves out ${number(lower.high)} to ${number(upper.low)}.`;
}
