/** A part of a page of the console, under its name. */
import type { Child, PropsWithChildren } from "hono/jsx";

interface PanelProps {
  readonly id: string;
  readonly title: Child;
  /** Beside the name: a link or a form. */
  readonly aside?: Child;
  readonly class?: string;
}

export function Panel(props: PropsWithChildren<PanelProps>) {
  const { id, title, aside, class: more = "", children } = props;
  return (
    <section class={`panel ${more}`} id={id} aria-labelledby={`${id}-name`}>
      <div class="panel-head">
        <h2 id={`${id}-name`}>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
}
