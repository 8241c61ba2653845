/** The frame of every page: head, style, and one main region. */
import { raw } from "hono/html";
import type { PropsWithChildren } from "hono/jsx";

/** A page with its title. The style is a file of its own, so that the CSP needs no inline style. */
export function Page({ title, children }: PropsWithChildren<{ title: string }>) {
  return (
    <>
      {raw("<!doctype html>")}
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content="light dark" />
          <title>{`${title} · Passbook`}</title>
          <link rel="stylesheet" href="/passbook.css" />
        </head>
        <body>
          <header class="wordmark">Passbook</header>
          <main>{children}</main>
        </body>
      </html>
    </>
  );
}
