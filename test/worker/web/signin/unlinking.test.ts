/** Unlinking a provider ends its sessions. Requests that were under way do not restore its tokens. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { connect, openProviderDouble, type ProviderDouble } from "../../support/provider_double.ts";
import {
  openBrowser,
  SIGN_IN_FIRST,
  subjectOf,
  tokenOf,
  type Browser,
} from "../../support/browser.ts";
import { send } from "../../support/passbook.ts";

const ADA = { sub: "ada", name: "Ada" };
const ADA_AT_ZETA = { sub: "ada-at-zeta" };

/** Signs Ada in with acme and links zeta. `onceTokensArrive` sets a function that runs before the vault stores tokens. */
async function signInWithBoth() {
  const acme = openProviderDouble("acme");
  const zeta = openProviderDouble("zeta");
  let meanwhile: (() => Promise<unknown>) | null = null;
  const settings = {
    ...connect(acme, zeta),
    ACCOUNT: {
      getByName: (name: string) => {
        const stub = env.ACCOUNT.getByName(name);
        return new Proxy(stub, {
          get(_, method) {
            const call = Reflect.get(stub, method) as (...args: unknown[]) => unknown;
            if (method !== "keepUpstreamTokens") return call;
            return async (...args: unknown[]) => {
              const first = meanwhile;
              meanwhile = null;
              await first?.();
              return call(...args);
            };
          },
        });
      },
    },
  };
  const ada = openBrowser(settings);
  const landed = await ada.signIn(acme, ADA);
  await linkZeta(ada, zeta);
  return {
    acme,
    zeta,
    settings,
    ada,
    identity_id: subjectOf(tokenOf(landed)),
    unlink: () => ada.post("/account/unlink", { provider: "zeta" }),
    onceTokensArrive: (run: () => Promise<unknown>) => void (meanwhile = run),
    heldAtZeta: () => {
      const headers = { Authorization: `Bearer ${tokenOf(landed)}` };
      return send("GET", "/api/oauthToken/zeta", { headers }, settings);
    },
  };
}

async function linkZeta(browser: Browser, zeta: ProviderDouble) {
  const started = await browser.post("/account/link", { provider: "zeta" });
  return browser.get(zeta.approve(started.headers.get("Location") ?? "", ADA_AT_ZETA).href);
}

async function isSignedIn(browser: Browser): Promise<boolean> {
  return (await browser.get("/account")).status === 200;
}

describe("unlinking", () => {
  it("unlinking ends the other sessions that were started with the provider, and no others", async () => {
    const { acme, zeta, settings, ada, unlink } = await signInWithBoth();
    const through_zeta = openBrowser(settings);
    await through_zeta.signIn(zeta, ADA_AT_ZETA);
    const through_acme = openBrowser(settings);
    await through_acme.signIn(acme, ADA);
    const somebody = openBrowser(settings);
    await somebody.signIn(zeta, { sub: "somebody" });
    await unlink();
    expect(await isSignedIn(through_zeta)).toBe(false);
    for (const browser of [ada, through_acme, somebody]) {
      expect(await isSignedIn(browser)).toBe(true);
    }
  });

  it("unlinking keeps the session that does it", async () => {
    const { zeta, settings } = await signInWithBoth();
    const through_zeta = openBrowser(settings);
    await through_zeta.signIn(zeta, ADA_AT_ZETA);
    await through_zeta.post("/account/unlink", { provider: "zeta" });
    expect(await isSignedIn(through_zeta)).toBe(true);
  });

  it("unlinking ends sessions whose sign-in method is unknown", async () => {
    const { acme, settings, unlink } = await signInWithBoth();
    const older = openBrowser(settings);
    const landed = await older.signIn(acme, ADA);
    const [, payload = ""] = tokenOf(landed)?.split(".") ?? [];
    const sid = JSON.parse(atob(payload)).sid;
    await env.DIRECTORY.prepare("update sessions set provider = null where id = ?").bind(sid).run();
    await unlink();
    expect(await isSignedIn(older)).toBe(false);
  });

  it("a refused unlinking ends no session", async () => {
    const { acme, settings, ada, unlink } = await signInWithBoth();
    await unlink();
    const other = openBrowser(settings);
    await other.signIn(acme, ADA);
    await ada.post("/account/unlink", { provider: "acme" });
    expect(await isSignedIn(other)).toBe(true);
  });
});

describe("a sign-in in progress while its provider is unlinked", () => {
  it("a sign-in in progress during unlinking gets no session and stores no upstream tokens", async () => {
    const { zeta, settings, unlink, onceTokensArrive, heldAtZeta } = await signInWithBoth();
    const late = openBrowser(settings);
    const back = zeta.approve(await late.start("zeta"), ADA_AT_ZETA);
    onceTokensArrive(unlink);
    expect((await late.get(back.href)).status).toBe(400);
    expect((await late.get("/account")).headers.get("Location")).toMatch(SIGN_IN_FIRST);
    expect((await heldAtZeta()).body.code).toBe("token_not_found");
  });

  it("linking in progress during unlinking stores no upstream tokens", async () => {
    const { zeta, ada, unlink, onceTokensArrive, heldAtZeta } = await signInWithBoth();
    onceTokensArrive(unlink);
    await linkZeta(ada, zeta);
    expect((await heldAtZeta()).body.code).toBe("token_not_found");
  });

  it("linking in progress fails if unlinking ended its session", async () => {
    const { zeta, settings, identity_id, unlink } = await signInWithBoth();
    const through_zeta = openBrowser(settings);
    await through_zeta.signIn(zeta, ADA_AT_ZETA);
    let ran = false;
    zeta.misbehave({
      async answer(path) {
        if (path !== "/token" || ran) return null;
        ran = true;
        await unlink();
        return null;
      },
    });
    const answer = await linkZeta(through_zeta, zeta);
    expect(ran).toBe(true);
    expect(answer.status).toBe(400);
    const rows = await env.DIRECTORY.prepare("select provider from identities where user_id = ?")
      .bind(identity_id)
      .raw();
    expect(rows.flat()).toEqual(["acme"]);
  });

  it("an unlinked provider can be linked again later", async () => {
    const { zeta, ada, unlink, heldAtZeta } = await signInWithBoth();
    await unlink();
    await linkZeta(ada, zeta);
    expect((await heldAtZeta()).status).toBe(200);
    expect(zeta.given_secrets).toContain((await heldAtZeta()).body.token);
  });
});
