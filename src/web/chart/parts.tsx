/** The points of a chart, to read with a pointer or the keyboard. */
import type { Child } from "hono/jsx";

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
