/**
 * Ceremonies with passkeys, from start to end. The challenge travels in a sealed cookie of this browser, so a start
 * writes to no store. It counts once: a passkey accepts only challenges that were issued after its last use, and a
 * registration inserts a credential that nobody may have or have had.
 */
import { base64url } from "jose";
import * as z from "zod/mini";
import { PASSKEYS_MAX } from "../../domain/limits.ts";
import { accepted, type Result } from "../../domain/result.ts";
import type {
  PasskeyFinished,
  PasskeyPort,
  PasskeyStart,
  Session,
  SignedIn,
  SignInFailure,
} from "../port.ts";
import type { FlowCookies } from "./flow_cookie.ts";
import { passkeyOrigin, type PasskeyStore } from "./passkey_store.ts";
import { drawRecoveryCode } from "./recovery_codes.ts";
import type { Origin } from "./identity_queries.ts";
import type { ReturningPeople } from "./returning_people.ts";
import type { Users } from "./users.ts";
import {
  readAssertion,
  rpIdOf,
  userHandleOf,
  verifyAssertion,
  verifyRegistration,
  type CeremonyRefusal,
} from "./webauthn/ceremony.ts";

const CHALLENGE_BYTES = 32;

/** The data of a ceremony between its start and the browser's response. */
export const ceremony = z.object({
  kind: z.enum(["sign_in", "register", "link"]),
  challenge: z.string(),
  started_at_ms: z.number(),
  redirect_to: z.nullable(z.string()),
  /** The person who gets a passkey; null: a sign-in, where the passkey names the person. */
  identity_id: z.nullable(z.string()),
  /** The session that adds a passkey; null: a sign-in or a registration. */
  session_id: z.nullable(z.string()),
  person_name: z.string(),
  passkey_name: z.string(),
});

type Ceremony = Readonly<z.infer<typeof ceremony>>;

interface PasskeyParts {
  readonly store: PasskeyStore;
  readonly users: Users;
  readonly people: ReturningPeople;
  readonly ceremonies: FlowCookies<Ceremony>;
  /** The session of a request's cookies; null if it has ended. */
  sessionOf(request: Request): Promise<Session | null>;
  /** Whether an account that is created with a passkey gets starter credits. */
  readonly takes_starters: boolean;
  /** Starts a session; null: the identity was unlinked meanwhile. */
  signIn(
    user_id: string,
    origin: Origin,
    request: Request,
    base_url: string,
  ): Promise<SignedIn | null>;
}

/** The browser's response to a ceremony. */
interface Response {
  readonly flow: Ceremony;
  readonly response: unknown;
  readonly request: Request;
  readonly base_url: string;
  /** Deletes the ceremony's cookie. */
  readonly ended: readonly string[];
}

export function createPasskeys(parts: PasskeyParts): Pick<PasskeyPort, "start" | "finish"> {
  const { store, ceremonies } = parts;
  return {
    async start(start) {
      const { kind, base_url } = start;
      const challenge = base64url.encode(crypto.getRandomValues(new Uint8Array(CHALLENGE_BYTES)));
      const session = kind === "link" ? start.session : null;
      const existing = session === null ? [] : await store.list(session.identity_id);
      if (existing.length >= PASSKEYS_MAX) return { kind: "too_many" };
      const identity_id =
        kind === "register" ? `user_${crypto.randomUUID()}` : (session?.identity_id ?? null);
      const person = session && (await parts.users.read(session.identity_id));
      const flow: Ceremony = {
        kind,
        challenge,
        started_at_ms: Date.now(),
        redirect_to: kind === "link" ? null : start.redirect_to,
        identity_id,
        session_id: session?.id ?? null,
        person_name:
          kind === "register" ? start.person_name : (person?.name ?? person?.email ?? ""),
        passkey_name: kind === "sign_in" ? "" : start.passkey_name,
      };
      const options =
        kind === "sign_in" ? { rpId: rpIdOf(base_url) } : creationOptions(start, flow, existing);
      return {
        kind: "started",
        options: { challenge, ...options },
        set_cookies: [await ceremonies.seal(base_url, flow)],
      };
    },
    async finish(request, response, base_url) {
      const flow = await ceremonies.open(base_url, request);
      if (flow === null) return failed("expired", null, []);
      const ended = [ceremonies.clear(base_url)];
      const finish = { sign_in: finishSignIn, register: finishRegistration, link: finishLink };
      return finish[flow.kind](parts, { flow, response, request, base_url, ended });
    },
  };
}

/** The script adds what is always the same. `existing`: credentials that the authenticator must not replace. */
function creationOptions(
  { base_url, service_name }: Exclude<PasskeyStart, { kind: "sign_in" }>,
  { identity_id, person_name }: Ceremony,
  existing: readonly string[],
): object {
  const name = person_name || service_name;
  return {
    rp: { id: rpIdOf(base_url), name: service_name },
    user: { id: userHandleOf(identity_id ?? ""), name, displayName: name },
    excludeCredentials: existing.map((id) => ({ type: "public-key", id })),
  };
}

async function finishSignIn(
  parts: PasskeyParts,
  { flow, response, request, base_url, ended }: Response,
): Promise<PasskeyFinished> {
  const { store } = parts;
  const assertion = readAssertion(response);
  if (assertion === null) return refused("malformed", flow, ended);
  const origin = await passkeyOrigin(base_url, assertion.id);
  const passkey = await store.find(origin);
  if (passkey === null) return failed("passkey_unknown", flow, ended);
  const { user_id, sign_count, last_used_at_ms } = passkey;
  const expected = { challenge: flow.challenge, origin: base_url };
  const verified = await verifyAssertion(assertion, passkey, expected);
  if (!verified.ok) return refused(verified.refusal, flow, ended);
  const { started_at_ms } = flow;
  const use = { sign_count: verified.value.sign_count, started_at_ms };
  if (!(await store.use(origin, use))) {
    // A counter that did not grow means that a copy of the passkey exists (WebAuthn, section 6.1.1).
    const is_new = started_at_ms > (last_used_at_ms ?? 0);
    const is_copy = is_new && sign_count > 0 && use.sign_count <= sign_count;
    return is_copy ? refused("counter", flow, ended) : failed("expired", flow, ended);
  }
  await parts.people.prepare(user_id);
  const signed_in = await parts.signIn(user_id, origin, request, base_url);
  if (signed_in === null) return failed("expired", flow, ended);
  const set_cookies = [...signed_in.set_cookies, ...ended];
  return {
    kind: "signed_in",
    session: signed_in.session,
    set_cookies,
    redirect_to: flow.redirect_to,
  };
}

/** The new passkey in a response. */
async function readPasskey({
  flow,
  response,
  base_url,
}: Response): Promise<Result<Origin, CeremonyRefusal>> {
  const { challenge, passkey_name } = flow;
  const verified = await verifyRegistration(response, { challenge, origin: base_url });
  if (!verified.ok) return verified;
  const { credential_id, ...key } = verified.value;
  return accepted(await passkeyOrigin(base_url, credential_id, { passkey_name, ...key }));
}

async function finishRegistration(parts: PasskeyParts, given: Response): Promise<PasskeyFinished> {
  const { flow, request, base_url, ended } = given;
  const { identity_id, person_name: name, redirect_to } = flow;
  const origin = await readPasskey(given);
  if (!origin.ok) return refused(origin.refusal, flow, ended);
  const user_id = identity_id ?? "";
  const { code: recovery_code, hash: recovery_code_hash } = await drawRecoveryCode();
  const opens_as_returned = !parts.takes_starters;
  const person = { user_id, name, recovery_code_hash, opens_as_returned };
  if (!(await parts.store.register(origin.value, person))) return failed("expired", flow, ended);
  await parts.people.prepare(user_id);
  const signed_in = await parts.signIn(user_id, origin.value, request, base_url);
  if (signed_in === null) return failed("expired", flow, ended);
  const set_cookies = [...signed_in.set_cookies, ...ended];
  return {
    kind: "registered",
    session: signed_in.session,
    set_cookies,
    redirect_to,
    recovery_code,
  };
}

async function finishLink(parts: PasskeyParts, given: Response): Promise<PasskeyFinished> {
  const { flow, request, ended } = given;
  const session = await parts.sessionOf(request);
  if (session?.id !== flow.session_id || session?.identity_id !== flow.identity_id) {
    return failed("link_session_ended", flow, ended);
  }
  const origin = await readPasskey(given);
  if (!origin.ok) return refused(origin.refusal, flow, ended);
  const linking = await parts.people.link(session, origin.value);
  if (linking.kind === "linked") return { kind: "linked", set_cookies: ended };
  return failed(linking.kind, flow, ended);
}

function refused(
  reason: CeremonyRefusal | "counter",
  flow: Ceremony,
  ended: readonly string[],
): PasskeyFinished {
  console.warn({ event: "signin_failed", provider: "passkey", failure: "passkey_refused", reason });
  return failed("passkey_refused", flow, ended);
}

function failed(
  failure: SignInFailure,
  flow: Ceremony | null,
  set_cookies: readonly string[],
): PasskeyFinished {
  const linking = flow?.kind === "link";
  const redirect_to = flow?.redirect_to ?? null;
  return { kind: "failed", failure, linking, redirect_to, set_cookies };
}
