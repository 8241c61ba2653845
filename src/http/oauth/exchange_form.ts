/** The form of a token exchange (RFC 8693, section 2.1), with its limits in `authorization_details` (RFC 9396). */
import * as z from "zod/mini";
import { APPS_PER_ALLOWANCE_MAX, CAPS_PER_ALLOWANCE_MAX } from "../../domain/limits.ts";
import type { OAuthError } from "../../domain/oauth_errors.ts";
import { readScope } from "../../domain/oauth_scopes.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import type { Narrowing } from "../../domain/token_exchange.ts";
import { apps, caps } from "../api/device/approve.ts";
import { invalidRequest } from "./errors.ts";
import type { OAuthForm } from "./form.ts";

export const ACCESS_TOKEN_TYPE = "urn:ietf:params:oauth:token-type:access_token";

export interface ExchangeForm {
  readonly subject_token: string;
  readonly narrowing: Narrowing;
}

export function readExchange(form: OAuthForm): Result<ExchangeForm, OAuthError> {
  const subject_token = form.get("subject_token");
  if (subject_token === null) return refused(invalidRequest("subject_token is missing."));
  if (form.get("subject_token_type") !== ACCESS_TOKEN_TYPE) {
    return refused(invalidRequest(`subject_token_type must be ${ACCESS_TOKEN_TYPE}.`));
  }
  if ((form.get("requested_token_type") ?? ACCESS_TOKEN_TYPE) !== ACCESS_TOKEN_TYPE) {
    return refused(
      invalidRequest(`requested_token_type must be ${ACCESS_TOKEN_TYPE}, or left out.`),
    );
  }
  if (form.get("actor_token") !== null || form.get("audience") !== null) {
    return refused(invalidRequest("actor_token and audience are not supported. Leave them out."));
  }
  const narrowing = readNarrowing(form);
  return narrowing.ok ? accepted({ subject_token, narrowing: narrowing.value }) : narrowing;
}

/** Strict, so that a misspelt limit is not silently ignored. */
const details = z
  .array(
    z.strictObject({
      type: z.literal("passbook_spending", "must be passbook_spending"),
      caps: z.optional(caps),
      apps: z.optional(apps),
      expires_in: z.optional(
        z.int("must be a whole number of seconds").check(z.gte(1, "must be at least 1")),
      ),
    }),
    "must be a list",
  )
  .check(z.length(1, "must have one entry"));

const SHAPE =
  "must be a JSON list of one object with type passbook_spending, and caps, apps or expires_in, " +
  `with at most ${CAPS_PER_ALLOWANCE_MAX} caps, one a period, and ${APPS_PER_ALLOWANCE_MAX} apps`;

/** Fields that a description may name. It may not repeat what the sender wrote. */
const FIELDS = ["type", "caps", "apps", "expires_in"];

function readNarrowing(form: OAuthForm): Result<Narrowing, OAuthError> {
  const scope = form.get("scope");
  const scopes = scope === null ? undefined : readScope(scope);
  const sent = form.get("authorization_details");
  if (sent === null) return accepted({ scopes });
  const read = details.safeParse(parse(sent));
  const [limits] = read.data ?? [];
  if (limits === undefined) {
    const field = read.error?.issues[0]?.path.find((part) => FIELDS.includes(String(part)));
    const wrong = field === undefined ? "" : ` The problem is in ${String(field)}.`;
    return refused(invalidRequest(`authorization_details ${SHAPE}.${wrong}`));
  }
  const { expires_in } = limits;
  return accepted({
    scopes,
    caps: limits.caps,
    app_slugs: limits.apps && [...new Set(limits.apps)],
    expires_at_ms: expires_in === undefined ? undefined : Date.now() + expires_in * 1000,
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
