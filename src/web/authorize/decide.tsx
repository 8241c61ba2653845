/** `POST /oauth/authorize/allow` and `…/deny`: the buttons of the consent page. */
import type { AuthorizeError } from "../../domain/authorize_request.ts";
import { DAY_MS } from "../../domain/calendar.ts";
import { maySpend, rightsOf } from "../../domain/allowance.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { limitsOfChoices, readChoices } from "../allowance/approval_form.ts";
import type { LimitChoices } from "../allowance/choices.tsx";
import type { PlainText } from "../language/text.tsx";
import { readLifetime } from "../allowance/offered.ts";
import { returnWithCode, readAccount, type Chosen } from "./account.ts";
import { showConsent, type ConsentForm, type SentForm } from "./consent.tsx";
import { readRequest, type AskingRequest } from "./read_request.ts";
import { refuseAccount, respond, showCannotAsk, showRoomFull } from "./respond.tsx";
import { returnToClient } from "./return_to_client.ts";
import { askedSeconds, chargingApp, readStart } from "./start.ts";

export const allowClient = factory.createHandlers(async (context) => {
  const form = await readForm(context);
  const sent = await readSealed(context, form);
  if (sent === null) return showCannotAsk(context, "form_unreadable");
  // Everything is read again: the client, the account or the registry may have changed.
  const reading = await readRequest(context, sent.query);
  if (reading.kind !== "asks") return respond(context, reading);
  const { request } = reading;
  const facts = await readAccount(context, request);
  if (!facts.ok) return refuseAccount(context, request, facts.refusal);
  const { step } = facts.value;
  if (step.kind === "room_full") return showRoomFull(context, request);
  // The person has this page open, although they may have agreed in another window meanwhile.
  const asking = { ...facts.value, step: step.kind === "remembered" ? ASK : step };
  const notice = whyAgain(sent, request);
  if (notice !== null) return showConsent(context, request, asking, { notice });
  const start = readStart(context, request, facts.value, null);
  const chosen = readChosen(context, request, form, start.choices);
  return chosen.ok
    ? returnWithCode(context, request, chosen.value)
    : showConsent(context, request, asking, { sent: chosen.refusal });
});

/** Also for a page that is too old, and after a required sign-in that is too old: denying gives nothing away. */
export const denyClient = factory.createHandlers(async (context) => {
  const sent = await readSealed(context, await readForm(context));
  if (sent === null) return showCannotAsk(context, "form_unreadable");
  for (const name of ["prompt", "max_age"]) sent.query.delete(name);
  const reading = await readRequest(context, sent.query);
  return reading.kind === "asks"
    ? returnToClient(context, reading.request, DENIED)
    : respond(context, reading);
});

const ASK = { kind: "ask" } as const;

const DENIED: AuthorizeError = {
  error: "access_denied",
  error_description: "The person denied the request.",
};

function readForm(context: AppContext): Promise<FormData> {
  return context.req.formData().catch(() => new FormData());
}

/** The request that the form was made for. */
interface SentRequest {
  readonly query: URLSearchParams;
  readonly session_id: string;
  readonly is_expired: boolean;
}

/** Null: this service did not make the form. */
async function readSealed(context: AppContext, form: FormData): Promise<SentRequest | null> {
  const sealed = form.get("request");
  const { consent_forms } = context.get("services");
  const opened =
    typeof sealed === "string" ? await consent_forms.open(context.get("base_url"), sealed) : null;
  if (opened === null) return null;
  const { query, session_id } = JSON.parse(opened.text) as ConsentForm;
  return { query: new URLSearchParams(query), session_id, is_expired: opened.is_expired };
}

/** Why the person must look at the page again; null: they need not. */
function whyAgain(
  { session_id, is_expired }: SentRequest,
  { session }: AskingRequest,
): PlainText | null {
  if (session_id !== session.id) {
    return "You have signed in again since this page was shown. Nothing has access yet: check the page again.";
  }
  return is_expired
    ? "This page was open for too long. Nothing has access yet: check it again."
    : null;
}

const ALL_APPS = { reach: "all", apps: [], other_apps: "" } as const;

const onlyIn = (app_slug: string) => ({ reach: "some", apps: [app_slug] }) as const;

/** The decision that the form states, or the form with its problems. */
function readChosen(
  context: AppContext,
  request: AskingRequest,
  form: FormData,
  start: Pick<LimitChoices, "apps" | "other_apps">,
): Result<Chosen, SentForm> {
  const { scopes, resource } = request;
  const { access } = rightsOf(scopes);
  const asked_seconds = form.get("days") === "asked" ? askedSeconds(context, request) : null;
  const days = asked_seconds === null ? readLifetime(context, form) : "asked";
  const typed = readChoices(form);
  // The form has only the choices that the access needs.
  const may_spend = maySpend(scopes);
  const spending = may_spend ? {} : { caps: [] };
  const charging_app = chargingApp(resource);
  const fixed = charging_app === null ? ALL_APPS : { ...ALL_APPS, ...onlyIn(charging_app) };
  const reaching = access === "none" ? fixed : {};
  const asked_access = may_spend ? "write" : "read";
  const choices = {
    ...typed,
    access: asked_access,
    admin: false,
    ...spending,
    ...reaching,
  } as const;
  const found = days === null ? ({ days: "Choose when the access ends." } as const) : {};
  const limits = limitsOfChoices(choices, start, found);
  if (!limits.ok) return refused({ choices: { ...choices, days }, problems: limits.refusal });
  if (days === null) throw new Error("a form without a lifetime has a problem");
  const lifetime_ms = days === "asked" ? (asked_seconds ?? 0) * 1000 : days * DAY_MS;
  // Choices that the page did not show stay as the holder made them before.
  const is_kept = access === "none" && charging_app === null;
  const app_slugs = is_kept ? undefined : limits.value.app_slugs;
  const caps = may_spend ? limits.value.caps : undefined;
  return accepted({
    limits: { app_slugs, caps, expires_at_ms: Date.now() + lifetime_ms },
    scopes: scopes.filter((scope) => scope !== "upstream" || typed.upstream),
  });
}
