/** The first values of the consent page: those that the person gave before or the suggested ones, and the client's wishes. */
import type { Connection } from "../../account/contract.ts";
import { shownAccess } from "../../domain/allowance.ts";
import {
  loweredCaps,
  preselectedApps,
  preselectedCaps,
  suggestedCap,
} from "../../domain/consent.ts";
import type { OAuthClient } from "../../domain/oauth_client.ts";
import type { SpendingCap } from "../../domain/spending_cap.ts";
import type { AppContext } from "../../http/context.ts";
import type { Wished } from "../allowance/allowance_form.tsx";
import { fieldsOfCaps } from "../allowance/cap_choice.tsx";
import { lifetimes } from "../allowance/offered.ts";
import type { ConsentChoices } from "./consent_page.tsx";
import type { AskingRequest } from "./read_request.ts";

/** The lifetime that the page suggests for a client without a registration. */
const SUGGESTED_DAYS = 30;

const DAY_SECONDS = 24 * 60 * 60;

/** The suggestions of a registered app. */
export interface SuggestingApp {
  readonly suggested_cap: SpendingCap | null;
  readonly upstream_providers: readonly string[];
}

interface Start {
  readonly choices: ConsentChoices;
  /** The client's wishes beyond the choices. */
  readonly wished: Wished;
}

/** `connection`: null if the client is not connected. `app`: null if the client belongs to no registered app. */
export function readStart(
  context: AppContext,
  request: AskingRequest,
  { connection, credits }: { readonly connection: Connection | null; readonly credits: number },
  app: SuggestingApp | null,
): Start {
  const { suggested } = request;
  const access = shownAccess(connection?.scopes ?? []);
  const only_app = chargingApp(request.resource);
  const wished_caps = suggested?.caps ?? [];
  // A connection that could not spend, or not use apps, has no choice about it yet.
  const has_caps = connection !== null && (access === "write" || connection.caps.length > 0);
  const has_apps =
    only_app === null &&
    connection !== null &&
    (access !== "none" || connection.app_slugs !== null);
  const { caps, shown } = has_caps
    ? loweredCaps(connection.caps, wished_caps)
    : preselectedCaps(suggestedCap(app, credits), wished_caps);
  const start_apps = has_apps ? connection.app_slugs : appsOf(request);
  const { apps, shown: shown_apps } = preselectedApps(
    start_apps,
    only_app === null ? suggested?.apps : undefined,
  );
  const choices: ConsentChoices = {
    access: "write",
    reach: apps === null ? "all" : "some",
    apps: apps ?? [],
    other_apps: "",
    caps: fieldsOfCaps(caps.map(({ credits, period }) => ({ credits, period }))),
    no_limit: caps.length === 0,
    upstream: false,
    admin: false,
    days:
      askedSeconds(context, request) === null ? suggestedDays(context, request.client) : "asked",
  };
  return { choices, wished: { caps: shown, apps: shown_apps } };
}

/** The only app for which a connection to a resource can spend; null: the resource does not charge, or it is our API. */
export function chargingApp(resource: AskingRequest["resource"]): string | null {
  return resource?.charges === true ? resource.app_slug : null;
}

/** The apps that a client's tokens are for. Null: all, which only the service's own command line starts with. */
function appsOf({ client, resource, own_app }: AskingRequest): readonly string[] | null {
  if (resource !== null) return [resource.app_slug];
  if (client.kind === "registered") return [client.app_slug];
  return own_app === null ? null : [own_app];
}

/** The lifetime that the client asks for, if it is shorter than the suggested one; or null. */
export function askedSeconds(
  context: AppContext,
  { client, suggested }: AskingRequest,
): number | null {
  const seconds = suggested?.expires_in ?? null;
  const is_shorter = seconds !== null && seconds < suggestedDays(context, client) * DAY_SECONDS;
  return is_shorter ? seconds : null;
}

/** The longest offered lifetime that is suggested. */
function suggestedDays(context: AppContext, client: OAuthClient): number {
  const days = lifetimes(context);
  const short = days.filter((offered) => offered <= SUGGESTED_DAYS);
  return Math.max(...(client.kind === "registered" || short.length === 0 ? days : short));
}
