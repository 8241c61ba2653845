/** A titled section of a console page. */
import type { Child, PropsWithChildren } from "hono/jsx";

interface PanelProps {
  readonly id: string;
  readonly title: Child;
  /** A link or form next to the title. */
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
