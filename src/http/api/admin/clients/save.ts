/** `PUT /api/admin/apps/{slug}/clients/{id}`: registers an OAuth client of an app, or replaces its settings. */
import * as z from "zod/mini";
import {
  CLIENT_NAME_MAX_LENGTH,
  REDIRECT_URIS_PER_CLIENT_MAX,
  REGISTRATION_ID_PATTERN,
  registeredClientId,
} from "../../../../domain/oauth_client.ts";
import { redirectProblem } from "../../../../domain/redirect_match.ts";
import { saveClient } from "../../../../operator/save_client.ts";
import { factory, type AppContext } from "../../../context.ts";
import { refuse } from "../../../refusals.ts";
import type { Services } from "../../../services.ts";
import { idempotencyKey, shownText, validBody, wellFormed } from "../../../validation.ts";
import { respondOnce, timestamp } from "../../../views.ts";
import { actingOf, reason as reasonText, version } from "../audited_action.ts";

export type OAuthClient = NonNullable<Awaited<ReturnType<Services["oauth_records"]["findClient"]>>>;

const redirect_uri = z.string("must be a string").check(
  z.refine((uri) => redirectProblem(uri) === null, {
    error: ({ input }) => redirectProblem(String(input)) ?? "",
  }),
);

const flag = z.boolean("must be true or false");

const PKCE_OF_PUBLIC =
  "must be false for a public client: without a secret, only PKCE protects its codes";

/** Strict, so that a misspelt setting is refused. A save replaces all settings. */
export const saveClientBody = z
  .strictObject({
    name: z
      .string("must be a string")
      .check(
        z.trim(),
        z.minLength(1, "must not be empty"),
        z.maxLength(
          CLIENT_NAME_MAX_LENGTH,
          `must have at most ${CLIENT_NAME_MAX_LENGTH} characters`,
        ),
        wellFormed,
        shownText,
      ),
    redirect_uris: z.array(redirect_uri, "must be a list of addresses").check(
      z.minLength(1, "must have at least one address"),
      z.maxLength(
        REDIRECT_URIS_PER_CLIENT_MAX,
        `must have at most ${REDIRECT_URIS_PER_CLIENT_MAX} addresses`,
      ),
      z.refine((uris) => new Set(uris).size === uris.length, "must have no duplicates"),
    ),
    public: flag,
    pkce_optional: z.optional(flag),
    refresh: z.optional(flag),
    version,
    reason: z.optional(reasonText),
  })
  .check(
    z.refine((body) => !(body.public && body.pkce_optional === true), {
      error: PKCE_OF_PUBLIC,
      path: ["pkce_optional"],
    }),
  );

export type SaveClient = z.output<typeof saveClientBody>;

export interface RegistrationKey {
  readonly app_slug: string;
  readonly id: string;
}

/** The app and the registration that the path names. */
export function registrationKeyOf(context: AppContext): RegistrationKey {
  return { app_slug: context.req.param("slug") ?? "", id: context.req.param("id") ?? "" };
}

/** What is wrong with the id of a client or resource; null: nothing. */
export function idProblem(id: string): string | null {
  return REGISTRATION_ID_PATTERN.test(id)
    ? null
    : "must be 1 to 64 of a-z 0-9 . _ -, starting with a letter or digit";
}

export interface SavedClient {
  readonly record: OAuthClient;
  /** Only in the response that gave the client this secret. */
  readonly secret: string | null;
}

/** The settings to save, with the defaults of those that were omitted. */
export function clientSettings({ reason, version: read_version, ...body }: SaveClient) {
  const settings = {
    ...body,
    pkce_optional: body.pkce_optional ?? false,
    refresh: body.refresh ?? false,
  };
  return { settings, request: { reason, version: read_version } };
}

export function clientView({ app_slug, created_at_ms, last_used_at_ms, ...rest }: OAuthClient) {
  const { last_audit_id: _, ...client } = rest;
  return {
    ...client,
    client_id: registeredClientId(app_slug, client.id),
    created_at: timestamp(created_at_ms),
    last_used_at: last_used_at_ms === null ? null : timestamp(last_used_at_ms),
  };
}

export const putClient = factory.createHandlers(validBody(saveClientBody), async (context) => {
  const client_key = registrationKeyOf(context);
  const problem = idProblem(client_key.id);
  if (problem !== null) {
    return refuse(context, { code: "invalid_request", detail: `The client's id ${problem}.` });
  }
  const { settings, request } = clientSettings(context.req.valid("json"));
  const saved = await saveClient(await actingOf(context), client_key, settings, {
    ...request,
    key: idempotencyKey(context),
  });
  return respondOnce(context, saved, ({ record, secret }) => {
    const client = clientView(record);
    return {
      client,
      client_id: client.client_id,
      ...(secret === null ? {} : { client_secret: secret }),
    };
  });
});
