/** The built-in identity adapter: our own users and sessions, and sign-in with any OAuth 2 provider. */
import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";
import { lowerCaseAscii } from "../../domain/text.ts";
import { SESSION_TTL_MS } from "../../domain/limits.ts";
import { CEREMONY_PURPOSE, type EncryptionKey } from "../../keys/encryption.ts";
import { hostCookie, hostCookieName, readCookies } from "../cookies.ts";
import {
  RECOVERY_METHOD,
  type Debt,
  type IdentityPort,
  type PasskeyPort,
  type SignedIn,
} from "../port.ts";
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
import { assignDebts, changeDebt, dropDebts } from "./debts.ts";
import { forgetPerson } from "./forgetting.ts";
import { ceremony, createPasskeys } from "./passkeys.ts";
import { createPasskeyStore } from "./passkey_store.ts";
import { exchangeRecoveryCode, findByRecoveryCode, replaceRecoveryCode } from "./recovery_codes.ts";
import { endSession, listSessions, pageSessions } from "./session_list.ts";
import { bindingOf, createSessions, describeBrowser, type ProvenIdentity } from "./sessions.ts";
import { createSignIns, reportIssuer } from "./sign_ins.ts";
import type { PseudonymsOf } from "./tombstones.ts";
import { createUsers, type Found, type Users } from "./users.ts";

const SESSION_COOKIE = "passbook_session";
const CEREMONY_COOKIE = "passbook_passkey";

/** The provider, issuer and client of identities of the development sign-in. */
const DEVELOPMENT = "dev";

const SESSION_SECRET = /^[A-Za-z0-9_-]{43}$/;

export interface BuiltinOptions {
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
  /** Opens the account of a person who deleted one before, before they get a session; may be repeated. */
  readonly open_returned: (identity_id: string) => Promise<unknown>;
  /**
   * Makes an account owe the debts of the person's deleted accounts. Returns whether it owes them now; may be
   * repeated.
   */
  readonly owe_debts: (identity_id: string, debts: readonly Debt[]) => Promise<boolean>;
  /** Stores the upstream tokens of a sign-in. */
  readonly store_upstream_tokens?: StoreUpstreamTokens;
  /** Deletes the upstream tokens of a method that a person unlinked. */
  readonly forget_upstream_tokens?: DeleteUpstreamTokens;
}

export function createBuiltinAdapter(options: BuiltinOptions): IdentityPort {
  const database = drizzle(options.database);
  const sessions = createSessions(database);
  const moveDebts = debtMover(database, options);
  const provider_ids = options.providers.map(({ id }) => id);
  const users = withReturningPeople(
    createUsers(database, options.pseudonyms_of, provider_ids),
    options,
    moveDebts,
  );
  const baseUrlOf = (request: Request): string => options.base_url ?? new URL(request.url).origin;
  const secretsOf = (request: Request): readonly string[] => secretsIn(baseUrlOf(request), request);

  const resume = (request: Request) =>
    sessions.resume(secretsOf(request), describeBrowser(request));

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
  const sessionOf = async (request: Request) => (await resume(request))?.session ?? null;
  const providers = options.provider_signin ? options.providers : [];
  const signIns = createSignIns({
    providers,
    flows: createFlowCookies(options.encryption_keys),
    users,
    store_upstream_tokens: options.store_upstream_tokens ?? null,
    sessionOf,
    signIn,
  });
  const prepare = async (user_id: string): Promise<void> => {
    if (await users.opensAsReturned(user_id)) await openReturned(users, options, user_id);
    await moveDebts(user_id);
  };
  const passkeys = (): PasskeyPort => ({
    ...createPasskeys({
      store: createPasskeyStore(database, options.pseudonyms_of),
      users,
      ceremonies: createCookiesOf(options.encryption_keys, {
        cookie: CEREMONY_COOKIE,
        purpose: CEREMONY_PURPOSE,
        content: ceremony,
      }),
      sessionOf,
      takes_starters: options.passkey_starters,
      prepare,
      signIn,
    }),
    findByRecoveryCode: (code) => findByRecoveryCode(database, code),
    async recover(typed, request, base_url) {
      const exchanged = await exchangeRecoveryCode(database, typed);
      if (exchanged === null) return null;
      const { user_id, code: recovery_code } = exchanged;
      await prepare(user_id);
      const recovery = { provider: RECOVERY_METHOD, subject: null };
      const signed_in = await signIn(user_id, recovery, request, base_url);
      return signed_in === null ? null : { ...signed_in, recovery_code };
    },
    replaceRecoveryCode: (session) => replaceRecoveryCode(database, session),
  });

  return {
    sign_in_methods: providers.map(({ id, name }) => ({ id, name })),
    sessionBindings: (request) => Promise.all(secretsOf(request).map(bindingOf)),
    async resume(request) {
      const proven = await resume(request);
      if (proven === null) return { kind: "none" };
      const { secret, session } = proven;
      const set_cookies = [cookieFor(baseUrlOf(request), secret)];
      return { kind: "session", session, set_cookies };
    },
    isSessionLive: async (session_id, identity_id) =>
      (await sessions.read(session_id, identity_id)) !== null,
    readSession: (session_id, identity_id) => sessions.read(session_id, identity_id),
    async findByToken({ provider, issuer, subject, ...token }, whyNoNewPerson) {
      const origin = { provider, issuer, subject, client_id: provider };
      const found = await users.findByToken(origin, token, whyNoNewPerson);
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
    startSignIn: (start) => signIns.start(start),
    finishSignIn: (request, method_id, base_url) => signIns.finish(request, method_id, base_url),
    async signOut(request) {
      const ended_sessions = await sessions.end(secretsOf(request));
      const set_cookies = [cookieFor(baseUrlOf(request), "", 0)];
      return { set_cookies, ended_sessions };
    },
    signOutEverywhere: (identity_id) => sessions.endAll(identity_id),
    listSessions: (identity_id) => listSessions(database, identity_id),
    pageSessions: (identity_id, after_id, limit) =>
      pageSessions(database, identity_id, after_id, limit),
    endSession: (identity_id, session_id) => endSession(database, identity_id, session_id),
    deleteEndedSessions: () => sessions.deleteEnded(),
    forgetPerson: (user_id, owed) =>
      forgetPerson(database, options.pseudonyms_of, { user_id, owed }),
    changeDebt: async (identity_id, credits) =>
      changeDebt(database, await options.pseudonyms_of(["debt", identity_id]), credits),
    readPerson: (identity_id) => users.read(identity_id),
    listIdentities: (after_id, limit) => listIdentities(database, after_id, limit),
    countPeople: () => countPeople(database),
    readPeople: (identity_ids) => readPeople(database, identity_ids),
    findByEmail: (prefix, limit) => findByEmail(database, prefix, limit),
    findByAddress: (address, limit) => findByAddress(database, address, { provider_ids, limit }),
    findByDomain: (domain, limit) => findByDomain(database, domain, limit),
    async unlink(session, provider) {
      const outcome = await users.unlink(session, provider);
      if (outcome.kind === "only_one_left") return { kind: "refused", reason: outcome.kind };
      // Repeated for a method that was not linked: the first try may have failed after the unlinking.
      const linked_at_ms = outcome.kind === "unlinked" ? outcome.linked_at_ms : Date.now();
      await options.forget_upstream_tokens?.(session.identity_id, provider, linked_at_ms);
      return outcome.kind === "unlinked"
        ? { kind: "unlinked", ended_sessions: outcome.ended_sessions }
        : { kind: "refused", reason: outcome.kind };
    },
    passkeys: options.passkey_signin ? passkeys() : null,
    signInDevelopment: options.dev_signin
      ? async (email, request, base_url) => {
          const subject = lowerCaseAscii(email);
          const origin = {
            provider: DEVELOPMENT,
            subject,
            issuer: DEVELOPMENT,
            client_id: DEVELOPMENT,
          };
          const profile = { name: null, email: subject, email_verified: true };
          const found = await users.findOrCreate(origin, profile);
          const signed_in =
            found.kind === "found" ? await signIn(found.user_id, origin, request, base_url) : null;
          if (signed_in === null) throw new Error("a development identity was unlinked meanwhile");
          return signed_in;
        }
      : null,
  };
}

type MoveDebts = (user_id: string) => Promise<void>;

/**
 * Moves the debts of a person's deleted accounts to their account. D1 remembers them until that is done, so the next
 * sign-in completes an interrupted one.
 */
function debtMover(database: DrizzleD1Database, { owe_debts }: BuiltinOptions): MoveDebts {
  return async (user_id) => {
    const owed = await assignDebts(database, user_id);
    if (owed.length > 0 && (await owe_debts(user_id, owed)))
      await dropDebts(database, user_id, owed);
  };
}

/** Opens a new account without starter credits; may be repeated. */
async function openReturned(
  users: Users,
  { open_returned }: BuiltinOptions,
  user_id: string,
): Promise<void> {
  await open_returned(user_id);
  await users.markOpened(user_id);
}

/**
 * Wraps the users: a sign-in of a person who deleted an account before opens the new account, with the debts of
 * the old one, before it can be used. D1 remembers both until they are done, so the next sign-in completes an
 * interrupted one.
 */
function withReturningPeople(users: Users, options: BuiltinOptions, moveDebts: MoveDebts): Users {
  const welcome = async (found: Found): Promise<Found> => {
    if (found.kind !== "found") return found;
    if (found.opens_as_returned) await openReturned(users, options, found.user_id);
    await moveDebts(found.user_id);
    return found;
  };
  return {
    ...users,
    findOrCreate: async (...person) => welcome(await users.findOrCreate(...person)),
    async findByToken(...person) {
      const found = await users.findByToken(...person);
      return found.kind === "found" ? welcome(found) : found;
    },
    async link(session, origin) {
      const linking = await users.link(session, origin);
      if (linking.kind === "linked") await moveDebts(session.identity_id);
      return linking;
    },
  };
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
