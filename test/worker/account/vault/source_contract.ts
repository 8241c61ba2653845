/** The contract of the port to upstream tokens. Both adapters run it. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { UpstreamTokenSource } from "../../../../src/account/clients/vault.ts";
import { getToken, tokenId } from "../../support/device_logins.ts";
import { signIn, type SignedIn } from "../../support/passbook.ts";
import { withToken } from "../../support/allowances.ts";

/** An adapter, with a person who is signed in and may have connected the provider `acme`. */
export interface SourceWorld {
  readonly source: UpstreamTokenSource;
  /** The person has connected `acme`, whose token is this one. */
  readonly hold: (person: SignedIn, token: string) => Promise<void>;
  /** The token can no longer be renewed. */
  readonly withdraw: (person: SignedIn) => Promise<void>;
  /** The service that renews tokens is down. */
  readonly breakDown: (person: SignedIn) => Promise<void>;
}

const HOLDER = { kind: "holder" } as const;

export function describeUpstreamTokenSource(
  name: string,
  open: () => SourceWorld | Promise<SourceWorld>,
): void {
  describe(`upstream tokens from ${name}`, () => {
    it("the token of a connected provider is returned to its holder", async () => {
      const { source, hold } = await open();
      const ada = await signIn();
      await hold(ada, "token-of-ada");
      const read = await source.read(ada.identity_id, HOLDER, "acme");
      expect(read).toEqual({ ok: true, value: { token: "token-of-ada" } });
    });

    it("a person without a connection has no token, and a provider that nobody connected has none", async () => {
      const { source, hold } = await open();
      const ada = await signIn();
      const none = { ok: false, refusal: { code: "token_not_found" } };
      expect(await source.read(ada.identity_id, HOLDER, "acme")).toEqual(none);
      await hold(ada, "token-of-ada");
      expect(await source.read(ada.identity_id, HOLDER, "other")).toEqual(none);
      const ben = await signIn("ben@example.com");
      expect(await source.read(ben.identity_id, HOLDER, "acme")).toEqual(none);
    });

    it("a token that cannot be renewed requires a new connection", async () => {
      const { source, hold, withdraw } = await open();
      const ada = await signIn();
      await hold(ada, "token-of-ada");
      await withdraw(ada);
      const read = await source.read(ada.identity_id, HOLDER, "acme");
      expect(read).toEqual({ ok: false, refusal: { code: "reconnect_required" } });
    });

    it("a service that is down is upstream_unavailable", async () => {
      const { source, hold, breakDown } = await open();
      const ada = await signIn();
      await hold(ada, "token-of-ada");
      await breakDown(ada);
      const read = await source.read(ada.identity_id, HOLDER, "acme");
      expect(read).toMatchObject({ ok: false, refusal: { code: "upstream_unavailable" } });
    });

    it("a personal access token needs the scope upstream", async () => {
      const { source, hold } = await open();
      const ada = await signIn();
      await hold(ada, "token-of-ada");
      const read = async (limits: object) => {
        const caller = withToken(await tokenId(await getToken(ada, limits)));
        return source.read(ada.identity_id, caller, "acme");
      };
      expect(await read({ scopes: ["read", "write"] })).toMatchObject({
        ok: false,
        refusal: { code: "scope" },
      });
      expect(await read({ scopes: ["read", "upstream"] })).toMatchObject({ ok: true });
    });

    it("the holder of a suspended account gets no token, and an app never does", async () => {
      const { source, hold } = await open();
      const ada = await signIn();
      await ada.get("/api/wallet?app=demo");
      await hold(ada, "token-of-ada");
      const app = { kind: "app", app_slug: "demo" } as const;
      expect((await source.read(ada.identity_id, app, "acme")).ok).toBe(false);
      await env.ACCOUNT.getByName(ada.identity_id).suspend();
      expect(await source.read(ada.identity_id, HOLDER, "acme")).toMatchObject({
        ok: false,
        refusal: { code: "suspended" },
      });
    });
  });
}
