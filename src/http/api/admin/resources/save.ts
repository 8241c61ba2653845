/** `PUT /api/admin/apps/{slug}/resources/{id}`: registers a protected resource of an app, or changes it. */
import * as z from "zod/mini";
import type { OnceAnswer } from "../../../../account/contract.ts";
import type { Changes } from "../../../../domain/audit.ts";
import { RESERVED_SCOPES } from "../../../../domain/oauth_scopes.ts";
import {
  RESOURCE_SCOPE_PATTERN,
  RESOURCE_SCOPES_MAX,
  resourceKey,
  resourceProblem,
} from "../../../../domain/resource_uri.ts";
import { accepted, refused } from "../../../../domain/result.ts";
import { factory, type AppContext } from "../../../context.ts";
import { refuse } from "../../../refusals.ts";
import type { Services } from "../../../services.ts";
import { idempotencyKey, validBody } from "../../../validation.ts";
import { respondOnce, timestamp } from "../../../views.ts";
import { performAction, reason as reasonText } from "../audited_action.ts";
import { idProblem, registrationKeyOf, type RegistrationKey } from "../clients/save.ts";

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
  reason: z.optional(reasonText),
});

export type SaveResource = z.output<typeof saveResourceBody>;

/** What is wrong with a resource that passed the schema; null: nothing. */
export function ownAddressProblem(context: AppContext, { uri }: SaveResource): string | null {
  const is_ours = new URL(uri).origin === new URL(context.get("base_url")).origin;
  // A token for such a resource could be mistaken for a token of our API.
  return is_ours ? "must not be on this service's own address" : null;
}

/** `key` is the operator's idempotency key. */
export async function saveResource(
  context: AppContext,
  resource_key: RegistrationKey,
  { reason, uri, scopes }: SaveResource,
  key: string | undefined,
): Promise<OnceAnswer<Resource>> {
  const settings = { uri: resourceKey(uri), scopes };
  const action = {
    act: "resource.save",
    subject: resource_key.app_slug,
    reason: reason ?? null,
    details: { resource: resource_key.id, ...settings },
    key,
  };
  const { oauth_records } = context.get("services");
  let before: Resource | null = null;
  return performAction<Resource>(
    context,
    action,
    async (_, { audit_id, is_done }) => {
      if (is_done) {
        const resource = await oauth_records.findResource(resource_key);
        if (resource === null) return refused({ code: "resource_not_found" });
        return accepted({ value: resource, replayed: true });
      }
      const saved = await oauth_records.saveResource(resource_key, settings, audit_id);
      if (!saved.ok) return saved;
      before = saved.value.before;
      return accepted({ value: saved.value.resource, replayed: false });
    },
    (resource) => changesBetween(before, resource),
  );
}

function changesBetween(from: Resource | null, to: Resource): Changes | null {
  if (from === null) return null;
  return Object.fromEntries(
    (["uri", "scopes"] as const)
      .filter((name) => JSON.stringify(from[name]) !== JSON.stringify(to[name]))
      .map((name) => [name, { from: from[name], to: to[name] }]),
  );
}

export function resourceView({ id, uri, scopes, created_at_ms }: Resource) {
  return { id, uri, scopes, created_at: timestamp(created_at_ms) };
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
  const saved = await saveResource(context, resource_key, body, idempotencyKey(context));
  return respondOnce(context, saved, (resource) => ({ resource: resourceView(resource) }));
});
