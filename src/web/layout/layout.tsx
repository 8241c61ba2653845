/** The frame of every page: head, style, navigation, and one main region. */
import { raw } from "hono/html";
import type { PropsWithChildren } from "hono/jsx";
import { addressOf, type PageScript } from "./files.ts";
import { Mark } from "./mark.tsx";
import { shellOf } from "./shell.ts";

/** The places of each navigation, in its order. */
const NAVIGATION = {
  Account: [
    ["account", "/account", "Account"],
    ["jobs", "/account/jobs", "Jobs"],
    ["statement", "/account/statement", "Statement"],
    ["tokens", "/account/tokens", "Devices"],
  ],
  Console: [
    ["console", "/console", "Overview"],
    ["accounts", "/console/accounts", "Accounts"],
    ["apps", "/console/apps", "Apps"],
    ["all_jobs", "/console/jobs", "Jobs"],
    ["audit", "/console/audit", "Audit"],
  ],
} as const;

type Place = keyof typeof NAVIGATION;
export type Section = (typeof NAVIGATION)[Place][number][0];

export interface PageProps {
  readonly title: string;
  /** Where in the account or console the page is. Such pages are wide and carry the navigation; others are one card. */
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
  const place = section === undefined ? undefined : placeOf(section);
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
          {place === "Console" ? <link rel="stylesheet" href={addressOf("console.css")} /> : null}
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

function placeOf(section: Section): Place {
  return NAVIGATION.Console.some(([name]) => name === section) ? "Console" : "Account";
}

function Navigation({ here, service_name }: { here: Section; service_name: string }) {
  const { operates } = shellOf();
  const place = placeOf(here);
  const places = NAVIGATION[place];
  return (
    <header class="bar">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <div class="bar-inside">
        <a class="home" href={places[0][1]}>
          <Mark />
          {service_name}
          {place === "Console" ? <span class="tag">Console</span> : null}
        </a>
        <nav aria-label={place}>
          {places.map(([section, address, name]) => (
            <a href={address} aria-current={section === here ? "page" : undefined}>
              {name}
            </a>
          ))}
        </nav>
        <form method="post" action="/signout">
          {place === "Console" ? <a href="/account">Your account</a> : null}
          {place === "Account" && operates ? <a href="/console">Console</a> : null}
          <button type="submit" class="plain">
            Sign out
          </button>
        </form>
      </div>
    </header>
  );
}
