import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { createAccounts } from "../../../../src/account/clients/accounts.ts";
import { createClerkTokens } from "../../../../src/account/clients/clerk_tokens.ts";
import { createClerk } from "../../../../src/oauth/clerk.ts";
import { CLERK_SECRET_KEY, openClerk, type ClerkDouble } from "../../support/clerk_double.ts";
import { runOut, vaultOf } from "../../support/connected.ts";
import type { SignedIn } from "../../support/passbook.ts";
import { fakeUpstream, providers } from "../../support/upstream.ts";
import { describeUpstreamTokenSource } from "./source_contract.ts";

const API = "https://api.clerk.com";

describeUpstreamTokenSource("the vault", () => {
  const upstream = fakeUpstream();
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const source = vaultOf(providers());
  return {
    source,
    hold: ({ identity_id }, access_token) =>
      source.keep(identity_id, { ...upstream.grant(3600), access_token }),
    async withdraw(person) {
      await runOut(person);
      upstream.revoke();
    },
    async breakDown(person) {
      await runOut(person);
      upstream.breakDown();
    },
  };
});

/** Makes the Worker's `fetch` reach Clerk only. */
function reachClerk(): ClerkDouble {
  const clerk = openClerk();
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  vi.spyOn(globalThis, "fetch").mockImplementation((input, init) => {
    const request = new Request(input, init);
    if (!request.url.startsWith(API)) throw new TypeError(`no route to ${request.url}`);
    return clerk.handle(request);
  });
  return clerk;
}

const idOf = ({ identity_id }: Pick<SignedIn, "identity_id">): string => `clerk_${identity_id}`;

function openSource(clerk: ClerkDouble) {
  const source = createClerkTokens({
    vault: vaultOf(),
    readToken: createClerk({ secret_key: CLERK_SECRET_KEY, api_url: API }),
    readSubject: async (identity_id) => idOf({ identity_id }),
  });
  return {
    source,
    hold: async (person: SignedIn, token: string) =>
      clerk.connect(idOf(person), "acme", { kind: "token", token }),
    withdraw: async (person: SignedIn) =>
      clerk.connect(idOf(person), "acme", {
        kind: "cannot_renew",
        code: "oauth_missing_refresh_token",
      }),
    breakDown: async () => clerk.respond(() => new Response("down", { status: 503 })),
  };
}

describeUpstreamTokenSource("Clerk", () => openSource(reachClerk()));

describe("tokens that Clerk holds", () => {
  const read = async (provider = "acme", secret_key = CLERK_SECRET_KEY): Promise<string> => {
    const readToken = createClerk({ secret_key, api_url: API });
    const answer = await readToken("user_1", provider);
    return answer.ok ? answer.value.token : answer.refusal.code;
  };

  it("the provider's id gets Clerk's prefix, and hyphens become underscores", async () => {
    const clerk = reachClerk();
    clerk.connect("user_1", "custom_acme", { kind: "token", token: "t" });
    expect(await read("custom-acme")).toBe("t");
    expect(clerk.requests).toEqual(["/v1/users/user_1/oauth_access_tokens/oauth_custom_acme"]);
  });

  it.each(["oauth_missing_refresh_token", "oauth_token_retrieval_error"])(
    "the error %s requires a new connection",
    async (code) => {
      const clerk = reachClerk();
      clerk.connect("user_1", "acme", { kind: "cannot_renew", code });
      expect(await read()).toBe("reconnect_required");
    },
  );

  it.each([
    ["an unknown person", (): void => undefined, "token_not_found"],
    [
      "a person without connections",
      (clerk: ClerkDouble) => clerk.addUser("user_1"),
      "token_not_found",
    ],
    [
      "a provider that Clerk does not know",
      (clerk: ClerkDouble) =>
        clerk.connect("user_1", "acme", { kind: "cannot_renew", code: "provider_unsupported" }),
      "token_not_found",
    ],
    [
      "a rate limit",
      (clerk: ClerkDouble) => clerk.respond(() => Response.json({ errors: [] }, { status: 429 })),
      "upstream_unavailable",
    ],
    [
      "a body of another form",
      (clerk: ClerkDouble) => clerk.respond(() => Response.json({ token: "t" })),
      "upstream_unavailable",
    ],
    [
      "an item without a token",
      (clerk: ClerkDouble) => clerk.respond(() => Response.json([{ token: 1 }])),
      "upstream_unavailable",
    ],
    [
      "a page instead of JSON",
      (clerk: ClerkDouble) => clerk.respond(() => new Response("<html>")),
      "upstream_unavailable",
    ],
    [
      "a broken connection",
      (clerk: ClerkDouble) => clerk.respond(() => Promise.reject(new TypeError("lost"))),
      "upstream_unavailable",
    ],
  ] as const)("%s", async (_, prepare, expected) => {
    const clerk = reachClerk();
    prepare(clerk);
    expect(await read()).toBe(expected);
  });

  it("a wrong key is the operator's fault, not the person's", async () => {
    const clerk = reachClerk();
    clerk.addUser("user_1");
    expect(await read("acme", "sk_test_other")).toBe("upstream_unavailable");
  });

  it("Clerk is asked only if our own store has no token, and never for a caller without the right", async () => {
    const clerk = reachClerk();
    const { source } = openSource(clerk);
    const accounts = createAccounts(env.ACCOUNT);
    await accounts("user_app").wallet({ kind: "holder" }, { app: null });
    const app = { kind: "app", app_slug: "demo" } as const;
    expect((await source.read("user_app", app, "acme")).ok).toBe(false);
    expect(clerk.requests).toEqual([]);
  });

  it("a secret and a token are in no log", async () => {
    const clerk = reachClerk();
    const logged = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    clerk.connect("user_1", "acme", { kind: "cannot_renew", code: "oauth_token_retrieval_error" });
    await read();
    clerk.respond(() => new Response("secret-token", { status: 500 }));
    await read();
    expect(logged).toHaveBeenCalledWith(
      expect.objectContaining({ event: "clerk_unavailable", status: 500 }),
    );
    expect(JSON.stringify(logged.mock.calls)).not.toMatch(/sk_test|secret-token|user_1/);
  });
});
