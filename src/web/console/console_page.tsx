/** The frame of a console page: its notice, its heading, and links or forms next to the heading. */
import type { Child, PropsWithChildren } from "hono/jsx";
import { NoticeLine, Page } from "../layout/layout.tsx";
import { currentShell } from "../layout/shell.ts";
import { verbatim } from "../language/text.tsx";
import { consoleNoticeText } from "./labels.ts";

type PageProps = Parameters<typeof Page>[0];

interface ConsolePageProps extends Pick<PageProps, "title" | "section" | "scripts"> {
  /** Without it, the title is the heading. */
  readonly heading?: Child;
  readonly aside?: Child;
}

export function ConsolePage(props: PropsWithChildren<ConsolePageProps>) {
  const { title, heading = title, aside, children, ...page } = props;
  const notice = consoleNoticeText(currentShell().notice);
  return (
    <Page title={title} {...page}>
      <NoticeLine notice={notice === null ? null : verbatim(notice)} />
      <div class="page-head">
        <h1>{heading}</h1>
        {aside}
      </div>
      {children}
    </Page>
  );
}
