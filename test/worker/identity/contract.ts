/** The contract of the identity port. Every adapter runs it. */
import { describe, expect, it } from "vitest";
import type { IdentityPort, SignInFinished } from "../../../src/identity/port.ts";

/** An adapter and an environment in which people can sign in. */
export interface ProviderWorld {
  readonly identity: IdentityPort;
  readonly base_url: string;
  /** Identities whose accounts were opened as those of returning people. */
  readonly returned: readonly string[];
  /** Debts that were moved to an account, by identity. */
  readonly owed: readonly { readonly identity_id: string; readonly credits: number }[];
  /** Signs a person in with a new browser: the outcome, and the `Cookie` header afterwards. */
  signIn(person: string): Promise<{ finished: SignInFinished; cookies: string }>;
}

const NOTHING_OWED = { credits: 0, debt_ids: [], may_change: false };

type SignedIn = Extract<SignInFinished, { kind: "signed_in" }>;

/** Runs the contract. `open` creates an environment for each test. */
export function describeIdentityPort(
  name: string,
  open: () => ProviderWorld | Promise<ProviderWorld>,
  by: "provider" | "passkey" = "provider",
): void {
  // A device makes a new passkey for each account, so nobody who returns with one can be recognised.
  const itWithProviders = by === "provider" ? it : () => undefined;
  const request = (world: ProviderWorld, cookies = "", path = "/signin") =>
    new Request(world.base_url + path, { headers: cookies === "" ? {} : { Cookie: cookies } });
  const signedIn = async (world: ProviderWorld, person: string) => {
    const { finished, cookies } = await world.signIn(person);
    expect(finished.kind).toBe("signed_in");
    return { ...(finished as SignedIn), cookies };
  };

  describe(`the identity adapter "${name}"`, () => {
    itWithProviders("every sign-in method has a name for its button", async () => {
      const { sign_in_methods } = (await open()).identity;
      expect(sign_in_methods.length).toBeGreaterThan(0);
      for (const method of sign_in_methods) expect(method.name).not.toBe("");
    });

    itWithProviders("a sign-in redirects the browser to the provider", async () => {
      const { identity, base_url } = await open();
      const method_id = identity.sign_in_methods[0]?.id ?? "";
      const start = { method_id, base_url, redirect_to: null, link_to: null, again: false };
      expect(await identity.startSignIn(start)).toMatchObject({ kind: "redirect" });
    });

    it("an unknown sign-in method is refused", async () => {
      const world = await open();
      const { identity, base_url } = world;
      const start = {
        method_id: "nobody",
        base_url,
        redirect_to: null,
        link_to: null,
        again: false,
      };
      expect(await identity.startSignIn(start)).toEqual({ kind: "unknown_method" });
      const finished = await identity.finishSignIn(request(world), "nobody", base_url);
      expect(finished).toEqual({ kind: "unknown_method" });
    });

    it("a request without cookies resumes no session", async () => {
      const world = await open();
      expect((await world.identity.resume(request(world))).kind).not.toBe("session");
    });

    it("a request resumes the session that its sign-in started", async () => {
      const world = await open();
      const { session, cookies } = await signedIn(world, "ada");
      const { id, identity_id, binding } = session;
      const resumed = await world.identity.resume(request(world, cookies));
      expect(resumed).toMatchObject({ kind: "session", session: { id, identity_id, binding } });
    });

    it("a resumed session says when and how its person signed in", async () => {
      const world = await open();
      const before_ms = Date.now();
      const { session, cookies } = await signedIn(world, "ada");
      const resumed = await world.identity.resume(request(world, cookies));
      const live = await world.identity.readSession(session.id, session.identity_id);
      expect(live).not.toBeNull();
      expect(resumed).toMatchObject({ session: live });
      expect(live?.started_at_ms).toBeGreaterThanOrEqual(before_ms);
      expect(live?.started_at_ms).toBeLessThanOrEqual(Date.now());
      expect(live?.signin_method).not.toBeNull();
    });

    it("a person who signs in again keeps their identity and gets a new session", async () => {
      const world = await open();
      const first = await signedIn(world, "ada");
      const second = await signedIn(world, "ada");
      expect(second.session.identity_id).toBe(first.session.identity_id);
      expect(second.session.id).not.toBe(first.session.id);
    });

    it("different people have different identities", async () => {
      const world = await open();
      const ada = await signedIn(world, "ada");
      const ben = await signedIn(world, "ben");
      expect(ben.session.identity_id).not.toBe(ada.session.identity_id);
    });

    it("a session is live only for its own person", async () => {
      const world = await open();
      const ada = await signedIn(world, "ada");
      const ben = await signedIn(world, "ben");
      const { identity } = world;
      expect(await identity.isSessionLive(ada.session.id, ada.session.identity_id)).toBe(true);
      expect(await identity.isSessionLive(ada.session.id, ben.session.identity_id)).toBe(false);
      expect(await identity.isSessionLive("never-was", ada.session.identity_id)).toBe(false);
    });

    it("signing out ends one session and keeps the others", async () => {
      const world = await open();
      const here = await signedIn(world, "ada");
      const there = await signedIn(world, "ada");
      await world.identity.signOut(request(world, here.cookies));
      const { identity_id } = here.session;
      expect(await world.identity.isSessionLive(here.session.id, identity_id)).toBe(false);
      expect(await world.identity.isSessionLive(there.session.id, identity_id)).toBe(true);
      const resumed = await world.identity.resume(request(world, here.cookies));
      expect(resumed.kind).not.toBe("session");
    });

    it("signing out returns the sessions that it ended", async () => {
      const world = await open();
      const here = await signedIn(world, "ada");
      const there = await signedIn(world, "ada");
      const ended = async (cookies: string) => {
        const signed_out = await world.identity.signOut(request(world, cookies));
        return signed_out.ended_sessions;
      };
      const { identity_id } = here.session;
      expect(await ended(here.cookies)).toEqual([{ id: here.session.id, identity_id }]);
      expect(await ended(here.cookies)).toEqual([]);
      const left = await world.identity.signOutEverywhere(identity_id);
      expect(left).toEqual([{ id: there.session.id, identity_id }]);
      expect(await world.identity.signOutEverywhere(identity_id)).toEqual([]);
    });

    it("the bindings of a request come only from its session cookies", async () => {
      const world = await open();
      const { session, cookies } = await signedIn(world, "ada");
      expect(await world.identity.sessionBindings(request(world, cookies))).toEqual([
        session.binding,
      ]);
      expect(await world.identity.sessionBindings(request(world))).toEqual([]);
    });

    it("signing out everywhere ends all sessions of a person and no others", async () => {
      const world = await open();
      const sessions = [await signedIn(world, "ada"), await signedIn(world, "ada")];
      const ben = await signedIn(world, "ben");
      await world.identity.signOutEverywhere(sessions[0]?.session.identity_id ?? "");
      for (const { session } of sessions) {
        expect(await world.identity.isSessionLive(session.id, session.identity_id)).toBe(false);
      }
      const { id, identity_id } = ben.session;
      expect(await world.identity.isSessionLive(id, identity_id)).toBe(true);
    });

    it("a person's profile lists their sign-in methods", async () => {
      const world = await open();
      const { session } = await signedIn(world, "ada");
      const person = await world.identity.readPerson(session.identity_id);
      expect(person?.identity_id).toBe(session.identity_id);
      expect(person?.linked).toHaveLength(1);
      expect(await world.identity.readPerson("nobody")).toBeNull();
    });

    it("the last sign-in method is never unlinked", async () => {
      const world = await open();
      const { session } = await signedIn(world, "ada");
      const person = await world.identity.readPerson(session.identity_id);
      const method_id = person?.linked[0]?.provider ?? "";
      expect(await world.identity.unlink(session, method_id)).not.toMatchObject({
        kind: "unlinked",
      });
      expect((await signedIn(world, "ada")).session.identity_id).toBe(session.identity_id);
    });

    it("forgetting a person ends all their sessions and affects nobody else", async () => {
      const world = await open();
      const { identity } = world;
      const sessions = [await signedIn(world, "ada"), await signedIn(world, "ada")];
      const { session: ben } = await signedIn(world, "ben");
      const { identity_id } = sessions[0]?.session ?? ben;
      await identity.forgetPerson(identity_id, NOTHING_OWED);
      await identity.forgetPerson(identity_id, NOTHING_OWED);
      expect(await identity.readPerson(identity_id)).toBeNull();
      for (const { session, cookies } of sessions) {
        expect(await identity.isSessionLive(session.id, identity_id)).toBe(false);
        expect((await identity.resume(request(world, cookies))).kind).not.toBe("session");
      }
      expect(await identity.isSessionLive(ben.id, ben.identity_id)).toBe(true);
    });

    itWithProviders(
      "a returning person gets a new identity, whose account is opened once as returned",
      async () => {
        const world = await open();
        const former = await signedIn(world, "ada");
        await world.identity.forgetPerson(former.session.identity_id, NOTHING_OWED);
        const { session } = await signedIn(world, "ada");
        expect(session.identity_id).not.toBe(former.session.identity_id);
        expect(world.returned).toEqual([session.identity_id]);
        expect((await signedIn(world, "ada")).session.identity_id).toBe(session.identity_id);
        await signedIn(world, "ben");
        expect(world.returned).toEqual([session.identity_id]);
      },
    );

    itWithProviders(
      "the account of a returning person takes over the debt of the deleted one once",
      async () => {
        const world = await open();
        const { session: former } = await signedIn(world, "ada");
        await world.identity.forgetPerson(former.identity_id, {
          credits: 40,
          debt_ids: [],
          may_change: false,
        });
        await world.identity.forgetPerson(former.identity_id, {
          credits: 40,
          debt_ids: [],
          may_change: false,
        });
        expect(world.owed).toEqual([]);
        await signedIn(world, "ben");
        const { session } = await signedIn(world, "ada");
        await signedIn(world, "ada");
        expect(world.owed).toEqual([{ identity_id: session.identity_id, credits: 40 }]);
      },
    );

    it("a provider response without a started sign-in signs nobody in", async () => {
      const world = await open();
      const method_id = world.identity.sign_in_methods[0]?.id ?? "";
      const path = `/signin/callback/${method_id}?code=guessed&state=guessed`;
      const { base_url, identity } = world;
      const finished = await identity.finishSignIn(request(world, "", path), method_id, base_url);
      expect(finished.kind).not.toBe("signed_in");
    });
  });
}
