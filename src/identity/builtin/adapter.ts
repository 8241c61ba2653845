/** The built-in identity adapter: our own users and sessions, and sign-in with any OAuth 2 provider. */
import { drizzle } from "drizzle-orm/d1";
import { lowerCaseAscii } from "../../domain/text.ts";
import { SESSION_TTL_MS } from "../../domain/limits.ts";
import { CEREMONY_PURPOSE, type EncryptionKey } from "../../keys/encryption.ts";
import { hostCookie, hostCookieName, readCookies } from "../cookies.ts";
import { RECOVERY_METHOD, type IdentityPort, type PasskeyPort, type SignedIn } from "../port.ts";
import type { OAuthProvider } from "../../oauth/providers.ts";
import type { DeleteUpstreamTokens, StoreUpstreamTokens } from "../../oauth/upstream_tokens.ts";
import { createCookiesOf, createFlowCookies } from "./flow_cookie.ts";
import {
  countPeople,
  findByAddress,
  findByDomain,
  findByEmail,
  listIdentities,
  readPeople,
} from "./people.ts";
import { changeDebt } from "./debts.ts";
import { forgetPerson } from "./forgetting.ts";
import { ceremony, createPasskeys } from "./passkeys.ts";
import { createPasskeyStore } from "./passkey_store.ts";
import { exchangeRecoveryCode, findByRecoveryCode, replaceRecoveryCode } from "./recovery_codes.ts";
import { endSession, listSessions, pageSessions } from "./session_list.ts";
import { bindingOf, describeBrowser, Sessions, type ProvenIdentity } from "./sessions.ts";
import { createSignIns, reportIssuer } from "./sign_ins.ts";
import type { PseudonymsOf } from "./tombstones.ts";
import { NO_COPY, type IdentityStore, type PeopleCopy } from "./identity_queries.ts";
import { unlink } from "./linking.ts";
import { ReturningPeople, type ReturningAccounts } from "./returning_people.ts";
import { Users } from "./users.ts";

const SESSION_COOKIE = "passbook_session";
const CEREMONY_COOKIE = "passbook_passkey";

/** The provider, issuer and client of identities of the development sign-in. */
const DEVELOPMENT = "dev";

const SESSION_SECRET = /^[A-Za-z0-9_-]{43}$/;

interface BuiltinOptions extends ReturningAccounts {
  readonly database: D1Database;
  /** The service's own origin; null, in development: the origin of the request. */
  readonly base_url: string | null;
  /** Whether `POST /signin/dev` exists. */
  readonly dev_signin: boolean;
  /** Whether people may sign in with providers, and with passkeys. */
  readonly provider_signin: boolean;
  readonly passkey_signin: boolean;
  /** Whether accounts that were created with a passkey get starter credits. */
  readonly passkey_starters: boolean;
  readonly providers: readonly OAuthProvider[];
  /** The first one seals flow cookies; all open them. */
  readonly encryption_keys: readonly EncryptionKey[];
  /** The pseudonyms that stay of deleted people's identities. */
  readonly pseudonyms_of: PseudonymsOf;
  /** The second copy of people. Left out: people are only in the directory. */
  readonly people_copy?: PeopleCopy;
  /** Stores the upstream tokens of a sign-in. */
  readonly store_upstream_tokens?: StoreUpstreamTokens;
  /** Deletes the upstream tokens of a method that a person unlinked. */
  readonly forget_upstream_tokens?: DeleteUpstreamTokens;
}

/**
 * Whether a session's method proves a new sign-in, as passkeys and recovery codes do. Null: it was unlinked, and nothing
 * is known of it.
 */
function provesSignIn(providers: readonly OAuthProvider[], method: string | null): boolean {
  return (
    method !== null &&
    providers.every(({ id, again_prompt }) => id !== method || again_prompt === "login")
  );
}

export function createBuiltinAdapter(options: BuiltinOptions): IdentityPort {
  const parts = partsOf(options);
  const { sessions, users, people, sign_ins, providers, secretsOf } = parts;
  const setCookie = (request: Request, value: string, max_age_seconds?: number) => [
    cookieFor(baseUrlOf(options, request), value, max_age_seconds),
  ];
  return {
    ...listsOf(parts),
    sign_in_methods: providers.map(({ id, name }) => ({ id, name })),
    sessionBindings: (request) => Promise.all(secretsOf(request).map(bindingOf)),
    async resume(request) {
      const proven = await parts.resume(request);
      if (proven === null) return { kind: "none" };
      const { secret, session } = proven;
      const is_proven = provesSignIn(options.providers, session.signin_method);
      const set_cookies = setCookie(request, secret);
      return { kind: "session", session: { ...session, is_proven }, set_cookies };
    },
    isSessionLive: async (session_id, identity_id) =>
      (await sessions.read(session_id, identity_id)) !== null,
    readSession: (session_id, identity_id) => sessions.read(session_id, identity_id),
    async findByToken({ provider, issuer, subject, ...token }, whyNoNewPerson) {
      const origin = { provider, issuer, subject, client_id: provider };
      const found = await people.findByToken(origin, token, whyNoNewPerson);
      switch (found.kind) {
        case "found":
          return { kind: "found", identity_id: found.user_id };
        case "issuer_changed":
          reportIssuer(found, origin);
          return { kind: "left" };
        case "left":
        case "refused":
          return found;
      }
    },
    readSubject: (identity_id, issuer) => users.readSubject(identity_id, issuer),
    startSignIn: (start) => sign_ins.start(start),
    finishSignIn: (request, method_id, base_url) => sign_ins.finish(request, method_id, base_url),
    async signOut(request) {
      const ended_sessions = await sessions.end(secretsOf(request));
      return { set_cookies: setCookie(request, "", 0), ended_sessions };
    },
    signOutEverywhere: (identity_id) => sessions.endAll(identity_id),
    deleteEndedSessions: () => sessions.deleteEnded(),
    readPerson: (identity_id) => users.read(identity_id),
    chooseLanguage: (identity_id, language) => users.chooseLanguage(identity_id, language),
    async unlink(session, provider) {
      const outcome = await unlink(parts.store, session, provider);
      if (outcome.kind === "only_one_left") return { kind: "refused", reason: outcome.kind };
      // Repeated for a method that was not linked: the first try may have failed after the unlinking.
      const linked_at_ms = outcome.kind === "unlinked" ? outcome.linked_at_ms : Date.now();
      await options.forget_upstream_tokens?.(session.identity_id, provider, linked_at_ms);
      return outcome.kind === "unlinked"
        ? { kind: "unlinked", ended_sessions: outcome.ended_sessions }
        : { kind: "refused", reason: outcome.kind };
    },
    passkeys: options.passkey_signin ? passkeysOf(parts, options) : null,
    signInDevelopment: options.dev_signin
      ? (email, ...browser) => signInDevelopment(parts, email, ...browser)
      : null,
  };
}

type Parts = ReturnType<typeof partsOf>;

function partsOf(options: BuiltinOptions) {
  const database = drizzle(options.database);
  const store: IdentityStore = {
    database,
    pseudonymsOf: options.pseudonyms_of,
    provider_ids: options.providers.map(({ id }) => id),
    copy: options.people_copy ?? NO_COPY,
  };
  const sessions = new Sessions(database);
  const users = new Users(store);
  const people = new ReturningPeople(users, store, options);
  const secretsOf = (request: Request) => secretsIn(baseUrlOf(options, request), request);
  const resume = (request: Request) =>
    sessions.resume(secretsOf(request), describeBrowser(request));
  const sessionOf = async (request: Request) => (await resume(request))?.session ?? null;
  // Every sign-in starts a new session, so a session cookie planted in the browser gains nothing.
  const signIn = async (
    user_id: string,
    proven_identity: ProvenIdentity,
    request: Request,
    base_url: string,
  ): Promise<SignedIn | null> => {
    const started = await sessions.start(user_id, proven_identity, describeBrowser(request));
    if (started === null) return null;
    const { secret, session } = started;
    return { session, set_cookies: [cookieFor(base_url, secret)] };
  };
  const providers = options.provider_signin ? options.providers : [];
  const sign_ins = createSignIns({
    providers,
    flows: createFlowCookies(options.encryption_keys),
    people,
    store_upstream_tokens: options.store_upstream_tokens ?? null,
    sessionOf,
    signIn,
  });
  return {
    store,
    sessions,
    users,
    people,
    providers,
    sign_ins,
    secretsOf,
    resume,
    sessionOf,
    signIn,
  };
}

/** The methods that need only the tables. */
function listsOf({ store }: Parts) {
  const { database, pseudonymsOf, provider_ids } = store;
  return {
    listSessions: (identity_id) => listSessions(database, identity_id),
    pageSessions: (...page) => pageSessions(database, ...page),
    endSession: (...session) => endSession(database, ...session),
    forgetPerson: (user_id, owed) => forgetPerson(store, { user_id, owed }),
    changeDebt: async (identity_id, credits) =>
      changeDebt(database, await pseudonymsOf(["debt", identity_id]), credits),
    listIdentities: (...page) => listIdentities(database, ...page),
    countPeople: () => countPeople(database),
    readPeople: (identity_ids) => readPeople(database, identity_ids),
    findByEmail: (prefix, limit) => findByEmail(database, prefix, limit),
    findByAddress: (address, limit) => findByAddress(database, address, { provider_ids, limit }),
    findByDomain: (domain, limit) => findByDomain(database, domain, limit),
  } satisfies Partial<IdentityPort>;
}

function passkeysOf(parts: Parts, options: BuiltinOptions): PasskeyPort {
  const { database } = parts.store;
  return {
    ...createPasskeys({
      ...parts,
      store: createPasskeyStore(parts.store),
      ceremonies: createCookiesOf(options.encryption_keys, {
        cookie: CEREMONY_COOKIE,
        purpose: CEREMONY_PURPOSE,
        content: ceremony,
      }),
      takes_starters: options.passkey_starters,
    }),
    findByRecoveryCode: (code) => findByRecoveryCode(database, code),
    async recover(typed, request, base_url) {
      const exchanged = await exchangeRecoveryCode(parts.store, typed);
      if (exchanged === null) return null;
      const { user_id, code: recovery_code } = exchanged;
      await parts.people.prepare(user_id);
      const recovery = { provider: RECOVERY_METHOD, subject: null };
      const signed_in = await parts.signIn(user_id, recovery, request, base_url);
      return signed_in === null ? null : { ...signed_in, recovery_code };
    },
    replaceRecoveryCode: (session) => replaceRecoveryCode(parts.store, session),
  };
}

async function signInDevelopment(
  { people, signIn }: Parts,
  email: string,
  request: Request,
  base_url: string,
): Promise<SignedIn> {
  const subject = lowerCaseAscii(email);
  const origin = { provider: DEVELOPMENT, subject, issuer: DEVELOPMENT, client_id: DEVELOPMENT };
  const profile = { name: null, email: subject, email_verified: true };
  const found = await people.findOrCreate(origin, profile);
  const signed_in =
    found.kind === "found" ? await signIn(found.user_id, origin, request, base_url) : null;
  if (signed_in === null) throw new Error("a development identity was unlinked meanwhile");
  return signed_in;
}

function baseUrlOf({ base_url }: BuiltinOptions, request: Request): string {
  return base_url ?? new URL(request.url).origin;
}

/**
 * `SameSite=None`, because apps of the parent domain call the API with it from their own origins. Only this
 * host receives it, so no app's server sees this secret of thirty days.
 */
function cookieFor(base_url: string, value: string, max_age_seconds = SESSION_TTL_MS / 1000) {
  return hostCookie(base_url, { name: SESSION_COOKIE, value, max_age_seconds }, "None");
}

/** The secrets in a request's cookies. A value of another form causes no lookup. */
function secretsIn(base_url: string, request: Request): readonly string[] {
  const values = readCookies(request, hostCookieName(base_url, SESSION_COOKIE));
  return values.filter((value) => SESSION_SECRET.test(value));
}
