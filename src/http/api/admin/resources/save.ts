/** `PUT /api/admin/apps/{slug}/resources/{id}`: registers a protected resource of an app, or changes it. */
import * as z from "zod/mini";
import { RESERVED_SCOPES } from "../../../../domain/oauth_scopes.ts";
import {
  RESOURCE_SCOPE_PATTERN,
  RESOURCE_SCOPES_MAX,
  resourceProblem,
} from "../../../../domain/resource_uri.ts";
import { saveResource } from "../../../../operator/save_resource.ts";
import { factory, type AppContext } from "../../../context.ts";
import { refuse } from "../../../refusals.ts";
import type { Services } from "../../../services.ts";
import { idempotencyKey, validBody } from "../../../validation.ts";
import { respondOnce, timestamp } from "../../../views.ts";
import { actingOf, reason as reasonText, version } from "../audited_action.ts";
import { idProblem, registrationKeyOf } from "../clients/save.ts";

export type Resource = NonNullable<Awaited<ReturnType<Services["oauth_records"]["findResource"]>>>;

const scope = z.string("must be a string").check(
  z.regex(
    RESOURCE_SCOPE_PATTERN,
    "must be 1 to 100 ASCII characters without spaces, quotes and backslashes",
  ),
  z.refine(
    (word) => !RESERVED_SCOPES.includes(word),
    `must not be ${RESERVED_SCOPES.join(", ")}: these are scopes of this service. Add a word, as in drawings:read`,
  ),
);

export const saveResourceBody = z.strictObject({
  uri: z.string("must be a string").check(
    z.refine((uri) => resourceProblem(uri) === null, {
      error: ({ input }) => resourceProblem(String(input)) ?? "",
    }),
  ),
  scopes: z.array(scope, "must be a list of scopes").check(
    z.maxLength(RESOURCE_SCOPES_MAX, `must have at most ${RESOURCE_SCOPES_MAX} entries`),
    z.refine((words) => new Set(words).size === words.length, "must have no duplicates"),
  ),
  version,
  reason: z.optional(reasonText),
});

export type SaveResource = z.output<typeof saveResourceBody>;

/** What is wrong with a resource that passed the schema; null: nothing. */
export function ownAddressProblem(context: AppContext, { uri }: SaveResource): string | null {
  const is_ours = new URL(uri).origin === new URL(context.get("base_url")).origin;
  // A token for such a resource could be mistaken for a token of our API.
  return is_ours ? "must not be on this service's own address" : null;
}

export function resourceView({ id, uri, scopes, version: saved, created_at_ms }: Resource) {
  return { id, uri, scopes, version: saved, created_at: timestamp(created_at_ms) };
}

export const putResource = factory.createHandlers(validBody(saveResourceBody), async (context) => {
  const resource_key = registrationKeyOf(context);
  const body = context.req.valid("json");
  const id_problem = idProblem(resource_key.id);
  const uri_problem = ownAddressProblem(context, body);
  if (id_problem !== null || uri_problem !== null) {
    const detail = id_problem === null ? `uri ${uri_problem}.` : `The resource's id ${id_problem}.`;
    return refuse(context, { code: "invalid_request", detail });
  }
  const { reason, version: read_version, ...settings } = body;
  const saved = await saveResource(await actingOf(context), resource_key, settings, {
    reason,
    version: read_version,
    key: idempotencyKey(context),
  });
  return respondOnce(context, saved, ({ record }) => ({ resource: resourceView(record) }));
});
