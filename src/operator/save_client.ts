/** Registers an OAuth client of an app, or changes it. */
import * as z from "zod/mini";
import type { OnceAnswer } from "../account/contract.ts";
import type { ClientRecord, RegistrationKey } from "../directory/oauth_records.ts";
import {
  CLIENT_NAME_MAX_LENGTH,
  REDIRECT_URIS_PER_CLIENT_MAX,
  REGISTRATION_ID_PATTERN,
} from "../domain/oauth_client.ts";
import { redirectProblem } from "../domain/redirect_match.ts";
import { shownUpTo } from "../fields.ts";
import type { Acting } from "./acting.ts";
import { reason } from "./audited_action.ts";
import {
  saveRecord,
  version,
  type Keyed,
  type RecordKind,
  type SavedRecord,
} from "./save_record.ts";

export type { ClientRecord, RegistrationKey };

const redirect_uri = z.string("must be a string").check(
  z.refine((uri) => redirectProblem(uri) === null, {
    error: ({ input }) => redirectProblem(String(input)) ?? "",
  }),
);

const addresses = z.array(redirect_uri, "must be a list of addresses").check(
  z.maxLength(
    REDIRECT_URIS_PER_CLIENT_MAX,
    `must have at most ${REDIRECT_URIS_PER_CLIENT_MAX} addresses`,
  ),
  z.refine((uris) => new Set(uris).size === uris.length, "must have no duplicates"),
);

const flag = z.boolean("must be true or false");

const PKCE_OF_PUBLIC =
  "must be false for a public client: without a secret, only PKCE protects its codes";

/** Strict, so that a misspelt setting is refused. A save replaces all settings. */
export const saveClientBody = z
  .strictObject({
    name: shownUpTo(CLIENT_NAME_MAX_LENGTH),
    redirect_uris: addresses.check(z.minLength(1, "must have at least one address")),
    post_logout_redirect_uris: z.optional(addresses),
    public: flag,
    pkce_optional: z.optional(flag),
    version,
    reason: z.optional(reason),
  })
  .check(
    z.refine((body) => !(body.public && body.pkce_optional === true), {
      error: PKCE_OF_PUBLIC,
      path: ["pkce_optional"],
    }),
  );

export type SaveClient = z.output<typeof saveClientBody>;

/** The problem of an id of a client or resource, as the end of a sentence; null if the id is valid. */
export function idProblem(id: string): string | null {
  return REGISTRATION_ID_PATTERN.test(id)
    ? null
    : "must be 1 to 64 of a-z 0-9 . _ -, starting with a letter or digit";
}

/** `secret`: only if the save made the client confidential. */
export function saveClient(
  acting: Acting,
  key: RegistrationKey,
  body: Keyed<SaveClient>,
): Promise<OnceAnswer<SavedRecord<ClientRecord>>> {
  const { oauth_records } = acting.services;
  const { post_logout_redirect_uris = [], pkce_optional = false } = body;
  const complete = { ...body, post_logout_redirect_uris, pkce_optional };
  const kind: RecordKind<typeof complete, ClientRecord> = {
    act: "oauth_client.save",
    subject: key.app_slug,
    details: { client: key.id },
    not_found: { code: "client_not_found" },
    changed: { code: "client_changed" },
    find: () => oauth_records.findClient(key),
    completed: (settings) => settings,
    settingsOf: (client) => ({
      name: client.name,
      redirect_uris: client.redirect_uris,
      post_logout_redirect_uris: client.post_logout_redirect_uris,
      public: client.public,
      pkce_optional: client.pkce_optional,
    }),
    write: (settings, save) => oauth_records.saveClient(key, settings, save),
  };
  return saveRecord(acting, kind, complete);
}
