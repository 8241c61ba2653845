/** Apps and people for a development service. A repeated seed changes nothing that is as it should be. */
import type { Accounts } from "../account/clients/accounts.ts";
import { HOLDER, type WalletRequest } from "../account/contract.ts";
import { DEFAULT_POLICY } from "../domain/app_policy.ts";
import { TEST_KEY_PREFIX } from "../domain/proof.ts";
import { assertInvariant } from "../domain/result.ts";
import { hashAppKey } from "../directory/app_records.ts";
import type { AppContext } from "../http/context.ts";
import type { Acting } from "../operator/acting.ts";
import { adjustCredits } from "../operator/account_actions.ts";
import { saveApp } from "../operator/save_app.ts";
import type { SeedBody } from "./seed_body.ts";

interface SeededApp {
  readonly slug: string;
  readonly key: string;
}

interface SeededPerson {
  readonly email: string;
  readonly identity_id: string;
  /** A session token, for 15 minutes. */
  readonly token: string;
}

/** Registers the apps, each with its key, then signs the people in and opens their accounts for every registered app. */
export async function seed(
  context: AppContext,
  { apps, people, credits }: SeedBody,
): Promise<{ readonly apps: readonly SeededApp[]; readonly people: readonly SeededPerson[] }> {
  const seeded_apps = [];
  for (const app of apps) {
    seeded_apps.push(await seedApp(context, typeof app === "string" ? { slug: app } : app));
  }
  const seeded_people = [];
  for (const person of people) {
    const given = typeof person === "string" ? { email: person } : person;
    seeded_people.push(await seedPerson(context, { credits, ...given }));
  }
  return { apps: seeded_apps, people: seeded_people };
}

/** Gives credits to a person, who is created if nobody has the address. */
export async function giveCredits(
  context: AppContext,
  email: string,
  amount: number,
): Promise<{ readonly identity_id: string; readonly credits: number }> {
  const { identity_id } = await signIn(context, email);
  return { identity_id, credits: await adjust(context, identity_id, amount) };
}

/** The development service itself, which may do everything. */
function actingOf(context: AppContext): Acting {
  return {
    services: context.get("services"),
    actor: { id: "development", personal_token: null, rights: { role: "admin" } },
    request_id: context.get("request_id"),
  };
}

interface GivenApp {
  readonly slug: string;
  readonly name?: string | undefined;
  readonly settle?: "holder" | "app" | undefined;
  readonly starter_credits?: number | undefined;
}

/** An omitted setting of a registered app stays as it is. A new app grants nothing, so that a balance is what the seed says. */
async function seedApp(context: AppContext, app: GivenApp): Promise<SeededApp> {
  const { app_records, apps } = context.get("services");
  const { slug } = app;
  const before = await app_records.find(slug);
  const { name, starter_credits, settle } = {
    name: app.name ?? before?.name ?? slug,
    starter_credits: app.starter_credits ?? before?.starter_credits ?? 0,
    settle: app.settle ?? before?.settle ?? DEFAULT_POLICY.settle,
  };
  const saved = await saveApp(actingOf(context), slug, {
    name,
    starter_credits,
    settle,
    origins: [...(before?.origins ?? [])],
    daily_starter_budget: before?.daily_starter_budget ?? null,
    version: before?.version ?? 0,
    key: undefined,
  });
  assertInvariant(saved.ok, "only one seed runs at a time");
  const key = await keyOf(slug);
  const created_at_ms = Date.now();
  await context.env.DIRECTORY.prepare(
    "insert into app_keys (id, app_slug, label, last_four, key_hash, created_at_ms) " +
      "values (?, ?, 'seed', ?, ?, ?) on conflict do nothing",
  )
    .bind(crypto.randomUUID(), slug, key.slice(-4), await hashAppKey(key), created_at_ms)
    .run();
  apps.forget();
  return { slug, key };
}

/**
 * The key of a seeded app. It is the same in every development service, so that it can stay in an app's settings. It is no
 * secret, and needs to be none: production accepts no such key.
 */
async function keyOf(slug: string): Promise<string> {
  const text = new TextEncoder().encode(`passbook development key of ${slug}`);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", text));
  const base64url = btoa(String.fromCharCode(...digest))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
  return TEST_KEY_PREFIX + base64url;
}

async function signIn(context: AppContext, email: string) {
  const { identity } = context.get("services");
  assertInvariant(identity.signInDevelopment !== null, "DEV_SIGNIN is true here");
  const signed_in = await identity.signInDevelopment(
    email,
    context.req.raw,
    context.get("base_url"),
  );
  return signed_in.session;
}

async function seedPerson(
  context: AppContext,
  {
    email,
    credits: wanted,
    origin,
  }: {
    readonly email: string;
    readonly credits?: number | undefined;
    readonly origin?: string | undefined;
  },
): Promise<SeededPerson> {
  const { accounts, apps, session_tokens } = context.get("services");
  const { id: session_id, identity_id } = await signIn(context, email);
  const account = accounts(identity_id);
  let { account: opened } = await openWallet(account, null);
  for (const { slug, starter_credits } of (await apps.all()).values()) {
    opened = (await openWallet(account, { slug, starter_credits, is_registered: true })).account;
  }
  const missing = (wanted ?? 0) - opened.credits;
  if (missing > 0) await adjust(context, identity_id, missing);
  const base_url = context.get("base_url");
  const proof = { kind: "session", session_id, azp: origin ?? base_url } as const;
  const token = await session_tokens.sign(base_url, { identity_id, proof, binding: null });
  return { email, identity_id, token };
}

type Account = ReturnType<Accounts>;

async function openWallet(account: Account, app: WalletRequest["app"]) {
  const wallet = await account.wallet(HOLDER, { app });
  assertInvariant(wallet.ok, "a person who signed in has an account");
  return wallet.value;
}

async function adjust(context: AppContext, identity_id: string, amount: number): Promise<number> {
  const change = { amount, reason: "development", key: crypto.randomUUID() };
  const adjusted = await adjustCredits(actingOf(context), identity_id, change);
  assertInvariant(adjusted.ok, "the account can take the credits");
  return adjusted.value.value.credits;
}
