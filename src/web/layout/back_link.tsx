/** The way back to the app, program or approval that sent a person here. */
import { say, t, verbatim, type Said } from "../language/text.tsx";

/** The outcome on our page, for the app. */
export type ReturnResult = "approved" | "denied" | "bought";

/** An address to return to, and what it is called. */
export interface BackLink {
  readonly href: string;
  readonly name: Said;
}

/** `name`: what the address is called if its host means nothing to people. */
export function backLink({ href, protocol, host }: URL, name: Said): BackLink {
  return { href, name: /^https?:$/.test(protocol) ? verbatim(host) : name };
}

/** The address with a result in its query. */
export function withResult({ href }: Pick<BackLink, "href">, result: ReturnResult): string {
  const url = new URL(href);
  url.searchParams.set("result", result);
  return url.href;
}

/** The link back. `result`: null if nothing has happened. */
export function BackTo(props: {
  readonly back: BackLink | null;
  readonly result: ReturnResult | null;
  readonly button?: boolean;
}) {
  const { back, result } = props;
  if (back === null) return null;
  return (
    <a
      class={props.button === true ? "button" : undefined}
      href={result === null ? back.href : withResult(back, result)}
    >
      {t("Back to {name}", { name: say(back.name) })}
    </a>
  );
}
