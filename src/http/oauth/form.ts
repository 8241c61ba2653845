/** The form of a request to an OAuth endpoint. */
import type { SentCredentials } from "../../domain/client_credentials.ts";
import type { OAuthError } from "../../domain/oauth_errors.ts";
import { resourceKey } from "../../domain/resource_uri.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import type { AppContext } from "../context.ts";
import { hasMoreParameters } from "../validation.ts";
import { invalidRequest } from "./errors.ts";

/** The parameters; one without a value counts as not sent (RFC 6749, section 3.2). */
export interface OAuthForm {
  get(name: string): string | null;
}

/** No grant has half as many. The limit bounds the work for a stranger. */
const PARAMETERS_MAX = 40;

/** No parameter may be sent twice (RFC 6749, section 3.2), so a second resource is refused too. */
export async function readForm(context: AppContext): Promise<Result<OAuthForm, OAuthError>> {
  const type = context.req.header("Content-Type") ?? "";
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(type)) {
    return refused(invalidRequest("Send the parameters as application/x-www-form-urlencoded."));
  }
  const body = await context.req.text();
  if (hasMoreParameters(body, PARAMETERS_MAX)) {
    return refused(invalidRequest(`Send at most ${PARAMETERS_MAX} parameters.`));
  }
  const sent = new URLSearchParams(body);
  const names = new Set<string>();
  const repeated = [...sent.keys()].find((name) => names.size === names.add(name).size);
  if (repeated === "resource") {
    const error_description = "Name only one resource.";
    return refused({ error: "invalid_target", error_description });
  }
  // The name is the client's, so it may have characters that a description may not have.
  if (repeated !== undefined) return refused(invalidRequest("A parameter was sent twice."));
  return accepted({ get: (name) => sent.get(name) || null });
}

export function credentialsOf(context: AppContext, form: OAuthForm): SentCredentials {
  return {
    authorization: context.req.header("Authorization") ?? null,
    client_id: form.get("client_id"),
    client_secret: form.get("client_secret"),
    client_assertion: form.get("client_assertion"),
    client_assertion_type: form.get("client_assertion_type"),
  };
}

/** The `resource` of a request; null: our API, whose resource is the service's own address. Undefined: not sent. */
export function requestedResource(
  context: AppContext,
  resource: string | null,
): string | null | undefined {
  if (resource === null) return undefined;
  return resourceKey(resource) === context.get("base_url") ? null : resource;
}
