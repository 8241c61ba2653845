/**
 * `GET` and `POST /oauth/userinfo` (OpenID Connect Core, section 5.3): what a client may know about the person, by the
 * scopes of its access token.
 */
import type { Person } from "../../identity/port.ts";
import { readBearer } from "../caller/bearer.ts";
import { isDeletedClient } from "../caller/deleted_registrations.ts";
import { allowanceCaller } from "../caller/account_caller.ts";
import { factory, type AppContext } from "../context.ts";
import { countAuthenticated } from "../middleware/rate_limits.ts";
import { describeRefusal } from "../refusals.ts";
import { errorFrom, refuseOAuth } from "./errors.ts";
import { readForm } from "./form.ts";

/** An error of a protected resource (RFC 6750, section 3.1). */
interface BearerError {
  readonly error: "invalid_token" | "insufficient_scope";
  readonly error_description: string;
}

const INVALID_TOKEN: BearerError = {
  error: "invalid_token",
  error_description:
    "Send a valid access token for this service, as a bearer token. Refresh an expired one.",
};

const NO_OPENID: BearerError = {
  error: "insufficient_scope",
  error_description: "The access token lacks the scope openid.",
};

export const readUserinfo = factory.createHandlers(async (context) => {
  const { access_tokens, accounts, identity } = context.get("services");
  const token = await readToken(context);
  const claims = token === null ? null : await access_tokens.verify(context.get("base_url"), token);
  if (claims === null) return refuseBearer(context, INVALID_TOKEN);
  const { identity_id, credential, client_id, scopes } = claims;
  context.set("sender", { client_id, identity_id });
  if (await isDeletedClient(context, client_id)) return refuseBearer(context, INVALID_TOKEN);
  const proof = { kind: "connection", credential, client_id } as const;
  const limited = await countAuthenticated(context, { identity_id, proof });
  if (limited !== null) return refuseOAuth(context, errorFrom(limited));
  if (!scopes.includes("openid")) return refuseBearer(context, NO_OPENID);
  const living = await accounts(identity_id).checkCaller(allowanceCaller(proof));
  if (!living.ok) {
    const error_description = describeRefusal(living.refusal).error;
    return refuseBearer(context, { error: "invalid_token", error_description });
  }
  const is_named = scopes.includes("profile") || scopes.includes("email");
  const person = is_named ? await identity.readPerson(identity_id) : null;
  return context.json({ sub: identity_id, ...claimsOf(person, scopes) });
});

/** A claim whose value is unknown is left out (section 5.3.2). */
function claimsOf(person: Person | null, scopes: readonly string[]): object {
  if (person === null) return {};
  const { name, email, email_verified } = person;
  return {
    ...(scopes.includes("profile") && name !== null ? { name } : {}),
    ...(scopes.includes("email") && email !== null ? { email, email_verified } : {}),
  };
}

/** The token of the header, or of the form (RFC 6750, sections 2.1 and 2.2). */
async function readToken(context: AppContext): Promise<string | null> {
  const header = context.req.header("Authorization");
  if (header !== undefined) return readBearer(header);
  if (context.req.method !== "POST") return null;
  const form = await readForm(context);
  return form.ok ? form.value.get("access_token") : null;
}

function refuseBearer(context: AppContext, { error, error_description }: BearerError): Response {
  context.set("refusal_code", error);
  context.header(
    "WWW-Authenticate",
    `Bearer error="${error}", error_description="${error_description}"`,
  );
  const status = error === "insufficient_scope" ? 403 : 401;
  return context.json({ error, error_description }, status);
}
