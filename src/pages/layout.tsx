/** The frame of every page: head, style, navigation, and one main region. */
import { raw } from "hono/html";
import type { PropsWithChildren } from "hono/jsx";
import { addressOf, type PageScript } from "./files.ts";
import { Mark } from "./mark.tsx";
import { shellOf } from "./shell.ts";

/** The places of the navigation, in its order. */
const SECTIONS = [
  ["account", "/account", "Account"],
  ["jobs", "/account/jobs", "Jobs"],
  ["statement", "/account/statement", "Statement"],
  ["tokens", "/account/tokens", "Devices"],
] as const;

export type Section = (typeof SECTIONS)[number][0];

export interface PageProps {
  readonly title: string;
  /** Where in the account the page is. Such pages are wide and carry the navigation; others are one card. */
  readonly section?: Section;
  readonly scripts?: readonly PageScript[];
  /** The page itself says where to go: it needs no way back to the account. */
  readonly leads_on?: boolean;
}

/** A page with its title. Style and scripts are files of their own: the CSP allows nothing inline. */
export function Page(props: PropsWithChildren<PageProps>) {
  const { title, section, scripts = [], leads_on = false, children } = props;
  const { service_name, service_accent, signed_in } = shellOf();
  const accent = service_accent.slice(1);
  return (
    <>
      {raw("<!doctype html>")}
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content="light dark" />
          <title>{`${title} · ${service_name}`}</title>
          <link rel="icon" href={`/favicon.svg?v=${accent}`} type="image/svg+xml" />
          <link rel="stylesheet" href={addressOf("passbook.css")} />
          <link rel="stylesheet" href={`/theme.css?v=${accent}`} />
        </head>
        <body class={section === undefined ? "single" : "wide"}>
          {section === undefined ? (
            <header class="wordmark">
              <Mark />
              {service_name}
            </header>
          ) : (
            <Navigation here={section} service_name={service_name} />
          )}
          <main id="main" tabindex={-1}>
            {children}
          </main>
          {section === undefined && signed_in && !leads_on ? (
            <footer class="way-back">
              <a href="/account">Your account</a>
            </footer>
          ) : null}
          {scripts.map((name) => (
            <script src={addressOf(name)}></script>
          ))}
        </body>
      </html>
    </>
  );
}

function Navigation({ here, service_name }: { here: Section; service_name: string }) {
  return (
    <header class="bar">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <div class="bar-inside">
        <a class="home" href="/account">
          <Mark />
          {service_name}
        </a>
        <nav aria-label="Account">
          {SECTIONS.map(([section, address, name]) => (
            <a href={address} aria-current={section === here ? "page" : undefined}>
              {name}
            </a>
          ))}
        </nav>
        <form method="post" action="/signout">
          <button type="submit" class="plain">
            Sign out
          </button>
        </form>
      </div>
    </header>
  );
}
