/** Passkeys on the sign-in page: starts and finishes sign-ins and registrations. */
import * as z from "zod/mini";
import { programOf } from "../../domain/client_description.ts";
import { findInvisible } from "../../domain/text.ts";
import type { PasskeyPort, PasskeyStart } from "../../identity/port.ts";
import { factory, type AppContext } from "../../http/context.ts";
import { takeLanguage } from "../../http/caller/page_language.ts";
import { setCookies, setSessionCookies } from "../../http/caller/session_cookies.ts";
import { readRedirectTo, targetIfStillAllowed } from "../../http/redirect_to.ts";
import { refuseByAccept, refuseWithPage } from "../../http/refusal_page.ts";
import { validForm } from "../../http/validation.ts";
import { message } from "../language/text.tsx";
import { returnToRequest } from "../authorize/new_sign_in.ts";
import { respondFinished } from "./finished.tsx";
import { RecoveryCodePage, RegistrationPage } from "./passkey_pages.tsx";
import { refuseEntry } from "./signed_in.ts";

/** Longest name of a person or passkey, in UTF-16 code units. Authenticators keep at least 64 bytes. */
const PASSKEY_NAME_MAX_LENGTH = 60;

/** A name that other people may read, such as operators. */
export const passkeyName = z.string("must be a string").check(
  z.trim(),
  z.minLength(1, "must not be empty"),
  z.maxLength(PASSKEY_NAME_MAX_LENGTH, `is longer than ${PASSKEY_NAME_MAX_LENGTH} characters`),
  z.refine((name) => findInvisible(name) === null, "has an invisible character"),
);

/** The first middleware of these routes: they exist only if `SIGNIN_METHODS` names passkeys. */
export const requirePasskeys = factory.createMiddleware(async (context, next) =>
  context.get("services").identity.passkeys === null
    ? refuseByAccept(context, { code: "not_found" })
    : next(),
);

/** Only after {@link requirePasskeys}. */
export function passkeysOf(context: AppContext): PasskeyPort {
  const { passkeys } = context.get("services").identity;
  if (passkeys === null) throw new Error("passkeys are off");
  return passkeys;
}

/** The name of a passkey that the person did not name: the browser that creates it. */
export function defaultPasskeyName(context: AppContext): string {
  return programOf(context.req.header("User-Agent") ?? "") ?? "Passkey";
}

/** Responds with the options of a ceremony, for the script. */
export async function startCeremony(context: AppContext, start: PasskeyStart): Promise<Response> {
  const started = await passkeysOf(context).start(start);
  if (started.kind === "too_many") {
    const detail = "You have as many passkeys as an account can have. Remove one first.";
    return refuseByAccept(context, { code: "invalid_request", detail });
  }
  setCookies(context, started.set_cookies);
  return context.json(started.options);
}

/** `POST /signin/passkey/start[?redirect_to=]`: starts a sign-in. */
export const startPasskeySignIn = factory.createHandlers(async (context) => {
  const target = await readRedirectTo(context, context.req.query("redirect_to"));
  if (!target.ok) return refuseByAccept(context, target.refusal);
  const base_url = context.get("base_url");
  const redirect_to = target.value?.href ?? null;
  return startCeremony(context, { kind: "sign_in", base_url, redirect_to });
});

/** `GET /signin/passkey/new[?redirect_to=]`: the page that creates an account. */
export const showRegistration = factory.createHandlers(async (context) => {
  const target = await readRedirectTo(context, context.req.query("redirect_to"));
  if (!target.ok) return refuseWithPage(context, target.refusal);
  const { config, identity } = context.get("services");
  return context.html(
    <RegistrationPage
      redirect_to={target.value?.href ?? null}
      gets_starters={config.passkey_starters}
      method_names={identity.sign_in_methods.map(({ name }) => name)}
    />,
  );
});

const registrationForm = z.object({ name: passkeyName });

/** `POST /signin/passkey/register[?redirect_to=]` (form: `name`): starts the creation of an account. */
export const startRegistration = factory.createHandlers(
  validForm(registrationForm),
  async (context) => {
    const target = await readRedirectTo(context, context.req.query("redirect_to"));
    if (!target.ok) return refuseByAccept(context, target.refusal);
    return startCeremony(context, {
      kind: "register",
      base_url: context.get("base_url"),
      redirect_to: target.value?.href ?? null,
      service_name: context.get("services").config.service_name,
      person_name: context.req.valid("form").name,
      passkey_name: defaultPasskeyName(context),
    });
  },
);

const responseForm = z.object({ response: z.string("must be a string") });

/** `POST /signin/passkey` (form: `response`, JSON): finishes a sign-in, a registration, or the adding of a passkey. */
export const finishPasskey = factory.createHandlers(validForm(responseForm), async (context) => {
  const { response } = context.req.valid("form");
  if (response === "") {
    const missing = { kind: "failed", failure: "passkey_missing", linking: false } as const;
    return respondFinished(context, { ...missing, redirect_to: null, set_cookies: [] }, "Passkey");
  }
  const base_url = context.get("base_url");
  const finished = await passkeysOf(context).finish(context.req.raw, parse(response), base_url);
  if (finished.kind !== "registered") {
    return respondFinished(context, finished, message("Your passkey"));
  }
  const { session, set_cookies, recovery_code } = finished;
  const target = await targetIfStillAllowed(context, finished.redirect_to);
  const refused = await refuseEntry(context, session.identity_id, target);
  if (refused !== null) return refused;
  await setSessionCookies(context, session, set_cookies);
  await takeLanguage(context, session);
  const redirect_to = (await returnToRequest(context, session, target))?.href ?? null;
  return context.html(
    <RecoveryCodePage {...{ recovery_code, redirect_to }} after="registration" />,
  );
});

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}
