/** The layout of every page: head, style, navigation, and one main region. */
import { raw } from "hono/html";
import type { PropsWithChildren } from "hono/jsx";
import { Logo } from "./logo.tsx";
import { Languages } from "../language/languages.tsx";
import { say, t, type Said } from "../language/text.tsx";
import { currentLocale, currentShell } from "./shell.ts";
import { Support } from "./support.tsx";
import { TOP_UP_STATE_TEXTS } from "./top_up_texts.ts";

/** The links of each navigation, in order: section, path, name. */
const NAVIGATION = {
  Account: [
    ["account", "/account", "Account"],
    ["jobs", "/account/jobs", "Jobs"],
    ["statement", "/account/statement", "Statement"],
    ["access", "/account/access", "Access"],
    ["security", "/account/security", "Security"],
  ],
  Console: [
    ["console", "/console", "Overview"],
    ["accounts", "/console/accounts", "Accounts"],
    ["apps", "/console/apps", "Apps"],
    ["plans", "/console/plans", "Plans"],
    ["all_jobs", "/console/jobs", "Jobs"],
    ["money", "/console/money", "Money"],
    ["audit", "/console/audit", "Audit"],
    ["requests", "/console/requests", "Requests"],
    ["operators", "/console/operators", "Operators"],
  ],
} as const;

type Area = keyof typeof NAVIGATION;
export type Section = (typeof NAVIGATION)[Area][number][0];

export type PageScript =
  | "allowance.js"
  | "copy.js"
  | "forms.js"
  | "live.js"
  | "passkey.js"
  | "select.js"
  | "times.js";

/**
 * The path of a static file (`commands/static_assets.ts`). It changes with each release, so that browsers
 * may cache it.
 */
function staticPath(name: PageScript | "console.css" | "passbook.css"): string {
  return `/static/${name}?v=${currentShell().release}`;
}

export interface PageProps {
  readonly title: string;
  /** The page's section of the navigation. Without one, the page is a single card without navigation. */
  readonly section?: Section;
  readonly scripts?: readonly PageScript[];
  /** Says itself how automatic top-up is. */
  readonly is_of_top_up?: boolean;
  /** Leaves out the link to the account, for pages with their own next step. */
  readonly without_account_link?: boolean;
}

/** Styles and scripts are separate files because the CSP allows nothing inline. */
export function Page(props: PropsWithChildren<PageProps>) {
  const { title, section, scripts = [], without_account_link = false, children } = props;
  const { language, service_name, service_accent, signed_in } = currentShell();
  const accent = service_accent.slice(1);
  const area = section === undefined ? undefined : areaOf(section);
  return (
    <>
      {raw("<!doctype html>")}
      <html lang={language} data-locale={currentLocale()}>
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content="light dark" />
          <title>{`${title} · ${service_name}`}</title>
          <link rel="icon" href={`/favicon.svg?v=${accent}`} type="image/svg+xml" />
          <link rel="stylesheet" href={staticPath("passbook.css")} />
          {area === "Console" ? <link rel="stylesheet" href={staticPath("console.css")} /> : null}
          <link rel="stylesheet" href={`/theme.css?v=${accent}`} />
        </head>
        <body class={section === undefined ? "single" : "wide"}>
          {section === undefined ? (
            <header class="wordmark">
              <Logo />
              {service_name}
            </header>
          ) : (
            <Navigation current={section} service_name={service_name} />
          )}
          <main id="main" tabindex={-1}>
            {area === "Account" && props.is_of_top_up !== true ? <TopUpNotice /> : null}
            {children}
          </main>
          {scripts.includes("live.js") ? <p class="unseen" role="status" data-said></p> : null}
          <Footer
            has_account_link={section === undefined && signed_in && !without_account_link}
            has_help={area === "Console"}
          />
          {scripts.map((name) => (
            <script src={staticPath(name)}></script>
          ))}
        </body>
      </html>
    </>
  );
}

/** Says on every page that automatic top-up stopped, or may charge nothing more. Its own page says it in full. */
function TopUpNotice() {
  const { top_up_state: state = null } = currentShell();
  if (state === null || !TOP_UP_STATE_TEXTS[state].is_notice) return null;
  return (
    <p class="notice top-up-notice">
      <span>
        {t("Automatic top-up:")} {t(TOP_UP_STATE_TEXTS[state].title)}
      </span>{" "}
      <a href="/account/top-up">{t("See how to go on")}</a>
    </p>
  );
}

interface FooterProps {
  readonly has_account_link: boolean;
  /** The manual for operators. */
  readonly has_help: boolean;
}

/** The ways out of a page. */
function Footer({ has_account_link, has_help }: FooterProps) {
  const { support_url, has_languages } = currentShell();
  if (!has_account_link && !has_help && support_url === null && !has_languages) return null;
  return (
    <footer class="page-end">
      {has_help ? <a href="/console/help">Help</a> : null}
      {has_account_link ? <a href="/account">{t("Your account")}</a> : null}
      <Support />
      <Languages />
    </footer>
  );
}

function areaOf(section: Section): Area {
  return NAVIGATION.Console.some(([name]) => name === section) ? "Console" : "Account";
}

function Navigation({ current, service_name }: { current: Section; service_name: string }) {
  const { operator_role } = currentShell();
  const area = areaOf(current);
  const links =
    area === "Console"
      ? NAVIGATION.Console
      : NAVIGATION.Account.map(([section, path, name]) => [section, path, t(name)] as const);
  return (
    <header class="bar">
      <a class="skip" href="#main">
        {t("Skip to the content")}
      </a>
      <div class="bar-inside">
        <a class="home" href={NAVIGATION[area][0][1]}>
          <Logo />
          <span class="home-name">{service_name}</span>
          {area === "Console" ? <span class="tag">Console, {operator_role}</span> : null}
        </a>
        {area === "Console" ? (
          <button type="button" class="plain menu" popovertarget="menu">
            Menu
          </button>
        ) : null}
        <nav aria-label={t(area)} {...(area === "Console" ? { id: "menu", popover: "auto" } : {})}>
          {links.map(([section, path, name]) => (
            <a href={path} aria-current={section === current ? "page" : undefined}>
              {name}
            </a>
          ))}
        </nav>
        <form method="post" action="/signout">
          {area === "Console" ? <a href="/account">{t("Account")}</a> : null}
          {area === "Account" && operator_role !== null ? (
            <a href="/console">{t("Console")}</a>
          ) : null}
          <button type="submit" class="plain">
            {t("Sign out")}
          </button>
        </form>
      </div>
      {area === "Console" ? <Search /> : null}
    </header>
  );
}

/** The console's search, on each of its pages. It needs no script. */
function Search() {
  return (
    <form
      method="get"
      action="/console/search"
      class="bar-search"
      role="search"
      aria-label="The whole service"
    >
      <label for="search" class="unseen">
        Search
      </label>
      <input
        id="search"
        name="q"
        type="search"
        maxlength={254}
        placeholder="Person, job, payment, app, client or request"
        autocomplete="off"
        spellcheck={false}
      />
      <button type="submit" class="quiet small">
        Search
      </button>
    </form>
  );
}

/**
 * The first thing to read on a page: why a form was refused, or what was just done. It has the focus when the page opens,
 * because screen readers often do not announce a message that is there from the start. This needs no script.
 */
export const FIRST_TO_READ = { tabindex: -1, autofocus: true } as const;

/** Says what was just done. */
export function NoticeLine({ notice }: { notice: Said | null }) {
  if (notice === null) return null;
  return (
    <p class="notice" role="status" {...FIRST_TO_READ}>
      {say(notice)}
    </p>
  );
}
