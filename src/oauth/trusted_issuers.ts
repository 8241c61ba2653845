/** `TRUSTED_ISSUERS` as settings: presets for six vendors, and any issuer with its fields. */
import * as z from "zod/mini";
import type { TrustedIssuer } from "../domain/trusted_issuer.ts";
import {
  ANY_ISSUER,
  ISSUER_PRESETS,
  PRESET_FIELDS,
  type IssuerPreset,
  type PresetField,
} from "./issuer_presets.ts";
import { secureEndpoint, type OAuthProvider } from "./providers.ts";

const some_text = z.string().check(z.minLength(1));
const texts = z.array(some_text).check(z.minLength(1));

/** A part of an address: a name, a domain or an id. */
const address_part = z.optional(
  z.string().check(z.regex(/^[\w-]+(\.[\w-]+)*$/, "must be a name of letters, digits, . _ and -")),
);

const entry_fields = z.strictObject({
  preset: z.optional(z.enum(Object.keys(ISSUER_PRESETS) as (keyof typeof ISSUER_PRESETS)[])),
  issuer: z.optional(secureEndpoint),
  jwks_uri: z.optional(secureEndpoint),
  domain: address_part,
  project_url: z.optional(secureEndpoint),
  project_id: address_part,
  region: address_part,
  user_pool_id: address_part,
  client_id: address_part,
  name: z.optional(z.string().check(z.minLength(1), z.maxLength(64))),
  provider: z.optional(some_text),
  audience: z.optional(z.union([some_text, texts])),
  authorized_parties: z.optional(texts),
  any_audience: z._default(z.boolean(), false),
  name_claim: z.optional(some_text),
  email_claim: z.optional(some_text),
  email_verified_claim: z.optional(some_text),
  starter_credits: z._default(z.boolean(), false),
  upstream: z._default(z.boolean(), false),
  upstream_tokens: z.optional(z.literal("clerk")),
});
type Entry = z.output<typeof entry_fields>;

/** An entry with its preset applied. `provider`: the id of the sign-in provider that the entry names. */
export interface IssuerSettings extends Omit<
  TrustedIssuer,
  "id" | "people_issuer" | "has_signin_provider"
> {
  readonly preset: string | null;
  readonly provider: string | null;
}

/** OpenID Connect Core 1.0, section 3.1.3.7; RFC 8725, section 3.9. */
const NO_AUDIENCE =
  "is missing: without audience or authorized_parties, tokens that the issuer gave to other services would be accepted; " +
  'set one of them, or "any_audience": true';

const trusted_issuer = z.pipe(
  entry_fields,
  z.transform((entry, payload): IssuerSettings => {
    const preset: IssuerPreset =
      entry.preset === undefined ? ANY_ISSUER : ISSUER_PRESETS[entry.preset];
    const missing = new Set<string>();
    const fill = (template: string): string =>
      template.replaceAll(/\{(\w+)\}/g, (_, name: "issuer" | PresetField) => {
        const value = entry[name];
        if (value === undefined) missing.add(name);
        return (value ?? "").replace(/\/$/, "");
      });
    const issuer = entry.issuer ?? fill(preset.issuer ?? "{issuer}");
    const jwks_uri = entry.jwks_uri ?? fill(preset.jwks_uri.replace("{issuer}", cut(issuer)));
    const audience = entry.audience ?? (preset.audience === null ? null : fill(preset.audience));
    for (const name of preset.needs) if (entry[name] === undefined) missing.add(name);
    const used = `${preset.issuer} ${preset.jwks_uri} ${preset.audience}`;
    const foreign = PRESET_FIELDS.filter(
      (name) => entry[name] !== undefined && !used.includes(`{${name}}`),
    );
    const accepts_any =
      audience === null && entry.authorized_parties === undefined && !preset.is_of_one_client;
    const problems = [
      ...(accepts_any && !entry.any_audience && missing.size === 0
        ? [["audience", NO_AUDIENCE] as const]
        : []),
      ...[...missing].map((name) => [name, "is missing"] as const),
      ...foreign.map(
        (name) => [name, "does not belong here: this issuer has no such field"] as const,
      ),
    ];
    for (const [name, message] of problems) {
      payload.issues.push({ code: "custom", input: entry, path: [name], message });
    }
    return settingsOf(entry, preset, { issuer, jwks_uri, audience });
  }),
);

interface Addresses extends Pick<TrustedIssuer, "issuer" | "jwks_uri"> {
  readonly audience: string | readonly string[] | null;
}

function settingsOf(entry: Entry, preset: IssuerPreset, addresses: Addresses): IssuerSettings {
  const { audience } = addresses;
  return {
    preset: entry.preset ?? null,
    provider: entry.provider ?? null,
    issuer: addresses.issuer,
    jwks_uri: addresses.jwks_uri,
    audience: typeof audience === "string" ? [audience] : audience,
    name: entry.name ?? (preset.name || (URL.parse(addresses.issuer)?.host ?? "")),
    authorized_parties: entry.authorized_parties ?? null,
    party_claim: preset.party_claim,
    types: preset.types,
    required: preset.required,
    refused: preset.refused,
    name_claim: entry.name_claim ?? preset.name_claim,
    email_claim: entry.email_claim ?? preset.email_claim,
    // The claim of the preset says nothing about the address in another claim.
    email_verified_claim:
      entry.email_verified_claim ??
      (entry.email_claim === undefined ? preset.email_verified_claim : null),
    starter_credits: entry.starter_credits,
    upstream: entry.upstream,
    upstream_tokens: entry.upstream_tokens ?? null,
  };
}

/** Without the slash at the end, which the issuer of some vendors has. */
const cut = (issuer: string): string => issuer.replace(/\/$/, "");

/** `TRUSTED_ISSUERS`: an array of entries with distinct issuers. */
export const trustedIssuers = z.array(trusted_issuer).check(
  z.superRefine((entries, context) => {
    const issuers = entries.map(({ issuer }) => issuer);
    for (const [index, issuer] of issuers.entries()) {
      const first = issuers.indexOf(issuer);
      if (first === index) continue;
      const message = `is the same as that of entry ${first + 1}`;
      context.addIssue({ code: "custom", path: [index, "issuer"], message });
    }
  }),
);

/** Why an entry has no sign-in method that it can belong to, for the operator. */
interface UnmatchedIssuer {
  /** The entry, counted from 0, and its field. */
  readonly path: readonly [number, "issuer" | "provider"];
  readonly problem: string;
}

/** Finds the sign-in method that the people of each issuer belong to: the provider that has the same people. */
export function matchProviders(
  entries: readonly IssuerSettings[],
  providers: readonly OAuthProvider[],
): { readonly issuers: readonly TrustedIssuer[]; readonly unmatched: readonly UnmatchedIssuer[] } {
  const issuers: TrustedIssuer[] = [];
  const unmatched: UnmatchedIssuer[] = [];
  for (const [index, { preset, provider: named, ...issuer }] of entries.entries()) {
    const provider =
      named === null
        ? providers.find((candidate) => candidate.issuer === issuer.issuer)
        : providers.find(({ id }) => id === named);
    const id = provider?.id ?? preset ?? idOf(issuer.issuer);
    const people_issuer = provider?.issuer ?? issuer.issuer;
    const others = [...providers.map((it) => ({ ...it, people_issuer: it.issuer })), ...issuers];
    if (named !== null && provider === undefined) {
      const problem = "is not the id of a provider in SIGNIN_PROVIDERS";
      unmatched.push({ path: [index, "provider"], problem });
    } else if (others.some((it) => it.id === id && it.people_issuer !== people_issuer)) {
      const problem = `needs the field provider: the id ${id} belongs to another issuer`;
      unmatched.push({ path: [index, "issuer"], problem });
    }
    issuers.push({ ...issuer, id, people_issuer, has_signin_provider: provider !== undefined });
  }
  return { issuers, unmatched };
}

/** An id in the form of a provider's: `https://id.example.com/` becomes `id-example-com`. */
function idOf(issuer: string): string {
  const words = (URL.parse(issuer)?.host ?? "").toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return words.join("-").slice(0, 32);
}
