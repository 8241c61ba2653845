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

/** Facts with their names. */
export function Details({ facts }: { facts: readonly (readonly [name: Child, fact: Child])[] }) {
  return (
    <dl class="details">
      {facts.map(([name, fact]) => (
        <div>
          <dt>{name}</dt>
          <dd>{fact}</dd>
        </div>
      ))}
    </dl>
  );
}

interface RowLinkProps {
  readonly href: string;
  readonly text: string;
  /** The row that the link is about, for people who hear the page. */
  readonly about: string;
}

/** A small button at the end of a row. */
export function RowLink({ href, text, about }: RowLinkProps) {
  return (
    <a class="button quiet small" href={href}>
      {text}
      <span class="unseen">{` ${about}`}</span>
    </a>
  );
}
