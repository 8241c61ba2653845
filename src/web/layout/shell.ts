/** The parts of a page that depend on the request and the settings, not on the page's content. */
import type { JSXNode } from "hono/jsx";
import { LANGUAGES, type Language } from "../../domain/language.ts";
import type { OperatorRole } from "../../domain/operators.ts";
import type { TopUpState } from "../../domain/top_up.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { languageOf } from "../../http/caller/page_language.ts";

interface Shell {
  readonly language: Language;
  /** Whether the page can be opened again in another language: see {@link canBeOpenedAgain}. */
  readonly has_languages: boolean;
  readonly service_name: string;
  /** The host of the service: an OAuth client of this host is a part of it. */
  readonly host: string;
  /** The service's colour as `#rrggbb`. */
  readonly service_accent: string;
  /** Where people get help; null: the settings name nothing. */
  readonly support_url: string | null;
  /** The id of the release; "" if unknown. */
  readonly release: string;
  /** Whether to link to the person's account. */
  readonly signed_in: boolean;
  /** The role of the signed-in operator; null: they are not an operator. */
  readonly operator_role: OperatorRole | null;
  /** The state of the person's automatic top-up; null: they have none. */
  readonly top_up_state?: TopUpState | null;
  /** The notice that the address names. */
  readonly notice?: string | undefined;
}

/** Used if the settings are invalid, because the page that says so still needs a shell. */
const DEFAULT_SHELL: Shell = {
  language: "en",
  has_languages: false,
  service_name: "Passbook",
  host: "",
  service_accent: "#12507b",
  support_url: null,
  release: "",
  signed_in: false,
  operator_role: null,
};

let current = DEFAULT_SHELL;

/** The shell of the page that is being rendered. */
export const currentShell = (): Shell => current;

/** The locale of the page's numbers and times. */
export const currentLocale = (): string => LANGUAGES[current.language].locale;

/**
 * Renders a page to text. A module variable is safe here because rendering is synchronous: no other request
 * runs in between. Hono's own context would add 15 KiB to the bundle.
 */
function renderPage(shell: Shell, page: JSXNode): string {
  current = shell;
  try {
    const text = page.toString();
    if (typeof text !== "string") throw new TypeError("a page contains an asynchronous component");
    return text;
  } finally {
    current = DEFAULT_SHELL;
  }
}

/** A browser shortens a longer address when it names the page that a form was on. */
const ADDRESS_MAX_CHARACTERS = 4_000;

/**
 * Not the response to a form or to a provider's redirect, whose address is used up; not the console, which is in English; and
 * no page at a foreign host.
 */
function canBeOpenedAgain(context: AppContext): boolean {
  const { method, path, url } = context.req;
  return (
    method === "GET" &&
    !/^\/(console|signin\/callback)(\/|$)/.test(path) &&
    new URL(url).origin === context.get("base_url") &&
    url.length <= ADDRESS_MAX_CHARACTERS
  );
}

/** Makes `context.html` render with the shell, so that no handler can forget it. */
export const renderPages = factory.createMiddleware(async (context, next) => {
  const html = context.html.bind(context) as (page: string, ...rest: unknown[]) => Response;
  context.html = (page: JSXNode, ...rest: unknown[]): Response => {
    const { service_name, service_accent, support_url } = context.get("services").config;
    const signed_in = context.get("session") !== undefined;
    const release = context.env.RELEASE?.id ?? "";
    const operator_role = context.get("operator")?.role ?? null;
    const { host } = new URL(context.get("base_url"));
    const service = { service_name, host, service_accent, support_url };
    const notice = context.req.query("notice");
    const top_up_state = context.get("top_up_state") ?? null;
    const person = { signed_in, operator_role, top_up_state, notice };
    const shell = {
      ...service,
      ...person,
      release,
      language: languageOf(context),
      has_languages: canBeOpenedAgain(context),
    };
    return html(renderPage(shell, page), ...rest);
  };
  await next();
});
