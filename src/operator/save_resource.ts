/** Registers a protected resource of an app, or changes it. */
import * as z from "zod/mini";
import type { OnceAnswer } from "../account/contract.ts";
import type { RegistrationKey, ResourceRecord } from "../directory/oauth_records.ts";
import { RESERVED_SCOPES } from "../domain/oauth_scopes.ts";
import {
  RESOURCE_SCOPE_PATTERN,
  RESOURCE_SCOPES_MAX,
  resourceKey,
  resourceProblem,
} from "../domain/resource_uri.ts";
import type { Acting } from "./acting.ts";
import { reason } from "./audited_action.ts";
import {
  saveRecord,
  version,
  type FieldProblem,
  type Keyed,
  type RecordKind,
  type SavedRecord,
} from "./save_record.ts";

export type { ResourceRecord };

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
  charges: z.optional(z.boolean("must be true or false")),
  version,
  reason: z.optional(reason),
});

export type SaveResource = z.output<typeof saveResourceBody>;

/** Null if the resource is not on this service's own address, `base_url`. */
export function findResourceProblem(base_url: string, { uri }: SaveResource): FieldProblem | null {
  const is_ours = new URL(uri).origin === new URL(base_url).origin;
  // A token for such a resource could be mistaken for a token of our API.
  return is_ours ? { path: ["uri"], message: "must not be on this service's own address" } : null;
}

export function saveResource(
  acting: Acting,
  key: RegistrationKey,
  body: Keyed<SaveResource>,
): Promise<OnceAnswer<SavedRecord<ResourceRecord>>> {
  const { oauth_records } = acting.services;
  const { charges = false } = body;
  const complete = { ...body, uri: resourceKey(body.uri), charges };
  const kind: RecordKind<typeof complete, ResourceRecord> = {
    act: "resource.save",
    subject: key.app_slug,
    details: { resource: key.id },
    not_found: { code: "resource_not_found" },
    changed: { code: "resource_changed" },
    find: () => oauth_records.findResource(key),
    completed: (given) => given,
    settingsOf: (resource) => ({
      uri: resource.uri,
      scopes: resource.scopes,
      charges: resource.charges,
    }),
    write: (given, save) => oauth_records.saveResource(key, given, save),
  };
  return saveRecord(acting, kind, complete);
}
