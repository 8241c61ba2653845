/** Accounts with passkeys: creating one, signing in, adding and removing passkeys. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import {
  BACK,
  expectNobody,
  openBrowser,
  SIGN_IN_FIRST,
  subjectOf,
  tokenOf,
} from "../../support/browser.ts";
import { createCredential, useCredential, type Alterations } from "../../support/authenticator.ts";
import {
  addPasskey,
  approveOn,
  HERE,
  ONLY_PASSKEYS,
  register,
  removableMethods,
  signInWith,
  suspend,
} from "../../support/passkeys.ts";
import { earlyInAMinute } from "../../support/clock.ts";
import { send } from "../../support/passbook.ts";
import { connect, openProviderDouble } from "../../support/provider_double.ts";

const ada = () => openBrowser(ONLY_PASSKEYS);

async function registered() {
  const browser = ada();
  return { browser, ...(await register(browser)) };
}

const onlyPerson = async (): Promise<string> => String((await rowsOf("users"))[0]?.["id"]);

const rowsOf = async (table: "users" | "identities" | "sessions" | "tombstones") =>
  (await env.DIRECTORY.prepare(`select * from ${table}`).all()).results;

describe("creating an account with a passkey", () => {
  it("creating an account signs the person in and shows a recovery code, which is stored only as a hash", async () => {
    const { browser, answer, recovery_code } = await registered();
    expect(answer.status).toBe(200);
    expect(answer.headers.get("Cache-Control")).toBe("no-store");
    expect(recovery_code).toMatch(/^([0-9A-HJKMNP-TV-Z]{5}-){4}[0-9A-HJKMNP-TV-Z]{5}$/);
    const account = await browser.get("/account");
    expect(account.status).toBe(200);
    expect(account.text).toContain("Ada");
    expect(JSON.stringify(await rowsOf("users"))).not.toContain(recovery_code.slice(0, 5));
  });

  it("the page says before that such an account gets no starter credits, unless the setting gives them", async () => {
    const warning = "An account that begins with a passkey gets no starter credits.";
    const open = async (settings: Parameters<typeof openBrowser>[0]) =>
      (await openBrowser(settings).get("/signin/passkey/new")).text;
    const both = { ...connect(openProviderDouble("acme")), SIGNIN_METHODS: "providers,passkey" };
    expect(await open(both)).toContain(warning);
    expect(await open(both)).toContain(">sign in with Acme</a>");
    expect(await open(ONLY_PASSKEYS)).toContain(warning);
    expect(await open(ONLY_PASSKEYS)).not.toContain(">sign in with");
    expect(await open({ ...both, PASSKEY_STARTER_CREDITS: "true" })).not.toContain(warning);
  });

  it("the recovery code can be downloaded as a text file, without a script", async () => {
    const { answer, recovery_code } = await registered();
    const [, file = ""] =
      /href="data:text\/plain;charset=utf-8,([^"]+)" download=/.exec(answer.text) ?? [];
    expect(decodeURIComponent(file)).toMatch(
      new RegExp(`^${recovery_code}\n\nRecovery code of your`),
    );
  });

  it("a person with a passkey has a name and no e-mail address", async () => {
    const { credential } = await registered();
    const { answer } = await signInWith(ada(), credential);
    const headers = { Authorization: `Bearer ${tokenOf(answer)}` };
    const me = await send("GET", "/api/me", { headers }, ONLY_PASSKEYS);
    expect(me.body).toMatchObject({ name: "Ada", email: null, email_verified: false });
  });

  it("a person who registered for an app continues to it after saving the code", async () => {
    const browser = ada();
    const { answer } = await register(browser, { redirect_to: BACK });
    expect(answer.text).toContain('action="/signin/continue"');
    const landed = await browser.post("/signin/continue", { redirect_to: BACK });
    expect(subjectOf(tokenOf(landed))).toMatch(/^user_/);
  });

  it("a registration counts once, also if its request is repeated with its cookies", async () => {
    const browser = ada();
    const started = await browser.post("/signin/passkey/register", { name: "Ada" });
    const { response } = await createCredential(HERE, started.body);
    const form = { response: JSON.stringify(response) };
    const cookie = browser.cookies.get("passbook_passkey") ?? "";
    expect((await browser.post("/signin/passkey", form)).status).toBe(200);
    const thief = ada();
    thief.cookies.set("passbook_passkey", cookie);
    await expectNobody(thief, (await thief.post("/signin/passkey", form)).status);
    const other = await createCredential(HERE, started.body);
    thief.cookies.set("passbook_passkey", cookie);
    const again = await thief.post("/signin/passkey", { response: JSON.stringify(other.response) });
    await expectNobody(thief, again.status);
    expect(await rowsOf("users")).toHaveLength(1);
  });

  it("a credential that anybody has or had cannot be registered", async () => {
    const { browser, response } = await registered();
    const ben = ada();
    const started = await ben.post("/signin/passkey/register", { name: "Ben" });
    const forged = await createCredential(HERE, started.body);
    const copy = {
      ...response,
      response: { ...response.response, clientDataJSON: forged.response.response.clientDataJSON },
    };
    const form = { response: JSON.stringify(copy) };
    await expectNobody(ben, (await ben.post("/signin/passkey", form)).status);
    await browser.post("/account/delete", { confirmation: "delete" });
    expect(await rowsOf("identities")).toEqual([]);
    expect(await rowsOf("tombstones")).toHaveLength(1);
    const next = await ben.post("/signin/passkey/register", { name: "Ben" });
    const again = await createCredential(HERE, next.body);
    const reused = {
      ...response,
      response: { ...response.response, clientDataJSON: again.response.response.clientDataJSON },
    };
    const refused = await ben.post("/signin/passkey", { response: JSON.stringify(reused) });
    await expectNobody(ben, refused.status);
  });

  it.each(["", " ", "x".repeat(61), "a\u202eb"])("the name %j is refused", async (name) => {
    const refused = await ada().post("/signin/passkey/register", { name });
    expect(refused.status).toBe(400);
  });

  it("one network may create ten accounts a minute", async () => {
    await earlyInAMinute();
    const browser = ada();
    const statuses: number[] = [];
    for (let tries = 0; tries < 11; tries += 1) {
      statuses.push((await browser.post("/signin/passkey/register", { name: "Ada" })).status);
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    expect(statuses.at(-1)).toBe(429);
  });
});

describe("starter credits of an account that was created with a passkey", () => {
  const ACCEPTED = { PASSKEY_STARTER_CREDITS: "true" };
  const creditsOf = async (settings: object, token: string | null) => {
    const headers = { Authorization: `Bearer ${token ?? ""}` };
    const { body } = await send("GET", "/api/wallet?app=demo", { headers }, settings);
    return body.account.credits;
  };

  it("it gets none", async () => {
    const { credential } = await registered();
    const { answer } = await signInWith(ada(), credential);
    expect(await creditsOf(ONLY_PASSKEYS, tokenOf(answer))).toBe(0);
  });

  it("it gets them if PASSKEY_STARTER_CREDITS is true", async () => {
    const settings = { ...ONLY_PASSKEYS, ...ACCEPTED };
    const { credential } = await register(openBrowser(settings));
    const { answer } = await signInWith(openBrowser(settings), credential);
    expect(await creditsOf(settings, tokenOf(answer))).toBe(100);
  });

  it("it gets none after a provider is linked and the passkey is removed", async () => {
    const acme = openProviderDouble("acme");
    const settings = { ...connect(acme), SIGNIN_METHODS: "providers,passkey" };
    const browser = openBrowser(settings);
    await register(browser);
    const started = await browser.post("/account/link", { provider: "acme" });
    await browser.get(acme.approve(started.headers.get("Location") ?? "", { sub: "ben" }).href);
    const signed_in = openBrowser(settings);
    const token = tokenOf(await signed_in.signIn(acme, { sub: "ben" }));
    const methods = await removableMethods(signed_in);
    const provider = [...methods].find(([name]) => name !== "Acme")?.[1] ?? "";
    await signed_in.post("/account/unlink", { provider });
    expect(await creditsOf(settings, token)).toBe(0);
  });

  it.each(["a sign-in", "a recovery"])(
    "it gets none after an interrupted registration and %s",
    async (way) => {
      const { credential, recovery_code } = await registered();
      const identity_id = await onlyPerson();
      // The registration ended before it opened the account.
      await env.DIRECTORY.prepare("update users set opens_as_returned = 1").run();
      await runInDurableObject(env.ACCOUNT.getByName(identity_id), (_, { storage }) =>
        storage.sql.exec("update account set returned = 0"),
      );
      const browser = ada();
      if (way === "a sign-in") await signInWith(browser, credential);
      else await browser.post("/signin/passkey/recovery", { code: recovery_code });
      const landed = await browser.post("/signin/continue", { redirect_to: BACK });
      expect(await creditsOf(ONLY_PASSKEYS, tokenOf(landed))).toBe(0);
    },
  );

  it("a person who signed in with a provider first gets them", async () => {
    const acme = openProviderDouble("acme");
    const settings = { ...connect(acme), SIGNIN_METHODS: "providers,passkey" };
    const browser = openBrowser(settings);
    const token = tokenOf(await browser.signIn(acme, { sub: "ada", name: "Ada" }));
    await addPasskey(browser);
    expect(await creditsOf(settings, token)).toBe(100);
  });
});

describe("signing in with a passkey", () => {
  it("a passkey signs in to an app of the family, with a token in the redirect", async () => {
    const { credential } = await registered();
    const { answer } = await signInWith(ada(), credential);
    expect(answer.headers.get("Location")).toMatch(/^http:\/\/localhost:3000\/back\?token=/);
    const [person] = await rowsOf("users");
    expect(subjectOf(tokenOf(answer))).toBe(person?.["id"]);
  });

  it("a sign-in may not return to an address that is not allowed", async () => {
    const query = new URLSearchParams({ redirect_to: "https://evil.test/" }).toString();
    for (const path of ["start", "register", "recovery"]) {
      const form = { name: "Ada", code: "x" };
      const refused = await ada().post(`/signin/passkey/${path}?${query}`, form);
      expect(refused.status).toBe(400);
    }
  });

  it("a response counts once, also after the session that it started has ended", async () => {
    const { credential } = await registered();
    const browser = ada();
    const started = await browser.post("/signin/passkey/start");
    const response = await useCredential(HERE, started.body, credential);
    const form = { response: JSON.stringify(response) };
    const cookie = browser.cookies.get("passbook_passkey") ?? "";
    expect((await browser.post("/signin/passkey", form)).status).toBe(303);
    await browser.post("/signout");
    const thief = ada();
    thief.cookies.set("passbook_passkey", cookie);
    await expectNobody(thief, (await thief.post("/signin/passkey", form)).status);
  });

  it("a response counts once, also within the millisecond in which its ceremony started", async () => {
    const { credential } = await registered();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 1_000 });
    const browser = ada();
    const started = await browser.post("/signin/passkey/start");
    const response = await useCredential(HERE, started.body, credential);
    const form = { response: JSON.stringify(response) };
    const cookie = browser.cookies.get("passbook_passkey") ?? "";
    const first = await browser.post("/signin/passkey", form);
    browser.cookies.set("passbook_passkey", cookie);
    const second = await browser.post("/signin/passkey", form);
    vi.useRealTimers();
    expect([first.status, second.status]).toEqual([303, 400]);
  });

  it("two copies of one response at once start one session", async () => {
    const { credential } = await registered();
    const browser = ada();
    const started = await browser.post("/signin/passkey/start");
    const response = await useCredential(HERE, started.body, credential);
    const form = { response: JSON.stringify(response) };
    const before = (await rowsOf("sessions")).length;
    const answers = await Promise.all([
      browser.post("/signin/passkey", form),
      browser.post("/signin/passkey", form),
    ]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([303, 400]));
    expect(await rowsOf("sessions")).toHaveLength(before + 1);
  });

  it("a response of another browser's ceremony, or without one, is refused", async () => {
    const { credential } = await registered();
    const started = await ada().post("/signin/passkey/start");
    const response = await useCredential(HERE, started.body, credential);
    const form = { response: JSON.stringify(response) };
    const without = ada();
    await expectNobody(without, (await without.post("/signin/passkey", form)).status);
    const another = ada();
    await another.post("/signin/passkey/start");
    await expectNobody(another, (await another.post("/signin/passkey", form)).status);
  });

  it("a ceremony ends after ten minutes", async () => {
    const { credential } = await registered();
    const browser = ada();
    const started = await browser.post("/signin/passkey/start");
    const response = await useCredential(HERE, started.body, credential);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 601_000 });
    const late = await browser.post("/signin/passkey", { response: JSON.stringify(response) });
    vi.useRealTimers();
    await expectNobody(browser, late.status);
  });

  it.each([
    ["of another origin", { origin: "https://evil.test" }],
    ["with another challenge", { challenge: "AAAA" }],
    ["for another relying party", { rp_id: "localhost" }],
    ["without user verification", { flags: 0x01 }],
    ["with another person's handle", { user_handle: "dXNlcl9iZW4" }],
    [
      "with an altered signature",
      { signature: (it) => it.with(it.length - 1, (it.at(-1) ?? 0) ^ 1) },
    ],
  ] as readonly (readonly [string, Alterations])[])(
    "a response %s signs nobody in, and the log says why",
    async (_, altered) => {
      const { credential } = await registered();
      const warn = vi.spyOn(console, "warn");
      const browser = ada();
      const { answer } = await signInWith(browser, credential, { altered });
      expect(answer.status).toBe(403);
      expect(warn).toHaveBeenCalledWith(
        expect.objectContaining({ event: "signin_failed", failure: "passkey_refused" }),
      );
      await expectNobody(browser, answer.status);
    },
  );

  it.each(["id", "clientDataJSON", "authenticatorData", "signature"])(
    "a response whose %s is no base64url is refused",
    async (field) => {
      const { credential } = await registered();
      const browser = ada();
      const started = await browser.post("/signin/passkey/start");
      const { id, response } = await useCredential(HERE, started.body, credential);
      const sent = { id, response, ...(field === "id" ? { id: "A" } : {}) };
      if (field !== "id") sent.response = { ...response, [field]: "AAAAA" };
      const refused = await browser.post("/signin/passkey", { response: JSON.stringify(sent) });
      await expectNobody(browser, refused.status);
      expect(refused.status).toBe(403);
    },
  );

  it("a passkey that nobody has is refused like a removed one", async () => {
    const { credential } = await registered();
    const { answer } = await signInWith(ada(), { ...credential, id: "AAAAAAAAAAAAAAAAAAAAAA" });
    expect(answer.status).toBe(403);
    expect(answer.text).toContain("We do not know this passkey");
  });

  it("a signature counter that does not grow is refused", async () => {
    const browser = ada();
    const { credential } = await register(browser, { altered: { sign_count: 5 } });
    expect((await signInWith(ada(), credential)).answer.status).toBe(303);
    const copy = ada();
    const { answer } = await signInWith(copy, credential, { altered: { sign_count: 6 } });
    await expectNobody(copy, answer.status);
    expect((await signInWith(ada(), credential)).answer.status).toBe(303);
  });

  it("a form that was sent without the script says what passkeys need", async () => {
    const answer = await ada().post("/signin/passkey", { response: "" });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain("Passkeys need JavaScript");
  });

  it("a form of another site starts and finishes nothing", async () => {
    for (const path of ["", "/start", "/register", "/recovery"]) {
      const evil = { Origin: "https://evil.test" };
      const answer = await ada().post(`/signin/passkey${path}`, { response: "{}" }, evil);
      expect(answer.status).toBe(403);
    }
  });

  it("a suspended person gets no session with a passkey", async () => {
    const { credential } = await registered();
    await suspend(await onlyPerson());
    const browser = ada();
    const { answer } = await signInWith(browser, credential);
    expect(answer.status).toBe(403);
    expect(answer.text).toContain("suspended");
    await expectNobody(browser, answer.status);
  });

  it("a person with a passkey operates if OPERATORS names their identity", async () => {
    const { credential } = await registered();
    const settings = { ...ONLY_PASSKEYS, OPERATORS: await onlyPerson() };
    const browser = openBrowser(settings);
    await signInWith(browser, credential, { redirect_to: null });
    expect((await browser.get("/console")).status).toBe(200);
    const other = openBrowser(settings);
    await register(other);
    expect((await other.get("/console")).status).toBe(403);
  });

  it("a token that was approved through a passkey ends when the passkey is removed", async () => {
    const { browser } = await registered();
    const { credential: blue } = await addPasskey(browser);
    const laptop = ada();
    await signInWith(laptop, blue);
    const holder = await approveOn(laptop);
    const kept = await approveOn(browser);
    expect((await holder.get("/api/wallet")).status).toBe(200);
    const id = (await removableMethods(browser)).get("Blue key") ?? "";
    await browser.post("/account/unlink", { provider: id });
    expect((await holder.get("/api/wallet")).status).toBe(401);
    expect((await kept.get("/api/wallet")).status).toBe(200);
  });
});

describe("the passkeys of an account", () => {
  it("a person adds a passkey with a name, signs in with either, and sees when each was used", async () => {
    const { browser, credential } = await registered();
    const { credential: blue, answer } = await addPasskey(browser);
    expect(answer.headers.get("Location")).toBe("/account/security?notice=linked");
    expect((await browser.get("/account/security")).text).toContain("not used yet");
    const subjects = await Promise.all(
      [credential, blue].map(async (it) =>
        subjectOf(tokenOf((await signInWith(ada(), it)).answer)),
      ),
    );
    expect(new Set(subjects).size).toBe(1);
    const { text } = await browser.get("/account/security");
    expect(text).toContain("Blue key");
    expect(text).not.toContain("not used yet");
    expect(text).toContain("last used");
    const data = await browser.get("/account/data.json");
    expect(data.body.person).toMatchObject({
      recovery_code_at: expect.stringMatching(/Z$/),
      linked: [
        { passkey: { last_used_at: expect.stringMatching(/Z$/) } },
        { passkey: { name: "Blue key", last_used_at: expect.stringMatching(/Z$/) } },
      ],
    });
  });

  it("the new passkey's authenticator must not replace one that the account has", async () => {
    const { browser, credential } = await registered();
    const started = await browser.post("/account/passkey", { passkey_name: "Blue key" });
    expect(started.body.excludeCredentials).toEqual([{ type: "public-key", id: credential.id }]);
  });

  it("removing a passkey ends its sessions and no others, and the passkey no longer signs in", async () => {
    const { browser } = await registered();
    const { credential: blue } = await addPasskey(browser);
    const lost = ada();
    await signInWith(lost, blue);
    const id = (await removableMethods(browser)).get("Blue key") ?? "";
    const removed = await browser.post("/account/unlink", { provider: id });
    expect(removed.headers.get("Location")).toBe("/account/security?notice=unlinked");
    expect((await browser.get("/account")).status).toBe(200);
    expect((await lost.get("/account")).headers.get("Location")).toMatch(SIGN_IN_FIRST);
    const { answer } = await signInWith(ada(), blue);
    expect(answer.status).toBe(403);
    expect(await rowsOf("tombstones")).toHaveLength(1);
  });

  it("the last passkey cannot be removed, and a recovery code does not count as another way", async () => {
    const { browser } = await registered();
    expect([...(await removableMethods(browser))]).toEqual([]);
    const [identity] = await rowsOf("identities");
    const answer = await browser.post("/account/unlink", {
      provider: String(identity?.["provider"]),
    });
    expect(answer.headers.get("Location")).toBe("/account/security?notice=only_one_left");
    expect(await rowsOf("identities")).toHaveLength(1);
  });

  it("a passkey of another account cannot be added", async () => {
    const { response } = await registered();
    const ben = ada();
    await register(ben);
    const started = await ben.post("/account/passkey", { passkey_name: "Stolen" });
    const { response: bens } = await createCredential(HERE, started.body);
    const { clientDataJSON } = bens.response;
    const copy = { ...response, response: { ...response.response, clientDataJSON } };
    const answer = await ben.post("/signin/passkey", { response: JSON.stringify(copy) });
    expect(answer.status).toBe(409);
  });

  it("adding a passkey fails if its session ended or another person signed in meanwhile", async () => {
    const { browser } = await registered();
    const started = await browser.post("/account/passkey", { passkey_name: "Blue key" });
    const cookie = browser.cookies.get("passbook_passkey") ?? "";
    const { response } = await createCredential(HERE, started.body);
    const ben = ada();
    await register(ben);
    ben.cookies.set("passbook_passkey", cookie);
    const answer = await ben.post("/signin/passkey", { response: JSON.stringify(response) });
    expect(answer.status).toBe(400);
    expect(await rowsOf("identities")).toHaveLength(2);
  });

  it("an account has at most 20 passkeys", async () => {
    const { browser } = await registered();
    for (let added = 1; added < 20; added += 1) await addPasskey(browser, `Key ${added}`);
    const refused = await browser.post(
      "/account/passkey",
      { passkey_name: "One more" },
      { Origin: HERE, Accept: "application/json" },
    );
    expect(refused.status).toBe(400);
    expect(refused.body.error).toContain("Remove one first");
  });

  it("ceremonies that were started together add no passkey above 20", async () => {
    const { browser } = await registered();
    for (let added = 1; added < 19; added += 1) await addPasskey(browser, `Key ${added}`);
    const cookies: string[] = [];
    const responses: object[] = [];
    for (const passkey_name of ["Last", "One more"]) {
      const started = await browser.post("/account/passkey", { passkey_name });
      cookies.push(browser.cookies.get("passbook_passkey") ?? "");
      responses.push((await createCredential(HERE, started.body)).response);
    }
    for (const [at, response] of responses.entries()) {
      browser.cookies.set("passbook_passkey", cookies[at] ?? "");
      await browser.post("/signin/passkey", { response: JSON.stringify(response) });
    }
    expect(await rowsOf("identities")).toHaveLength(20);
  });

  it("a person with a provider adds a passkey, and a person with a passkey links a provider", async () => {
    const acme = openProviderDouble("acme");
    const settings = { ...connect(acme), SIGNIN_METHODS: "providers,passkey" };
    const browser = openBrowser(settings);
    const landed = await browser.signIn(acme, { sub: "ada", name: "Ada" });
    const { credential } = await addPasskey(browser);
    const { answer } = await signInWith(openBrowser(settings), credential);
    expect(subjectOf(tokenOf(answer))).toBe(subjectOf(tokenOf(landed)));
    expect([...(await removableMethods(browser)).keys()].toSorted()).toEqual(["Acme", "Blue key"]);

    const ben = openBrowser(settings);
    await register(ben);
    const started = await ben.post("/account/link", { provider: "acme" });
    await ben.get(acme.approve(started.headers.get("Location") ?? "", { sub: "ben" }).href);
    const by_provider = await openBrowser(settings).signIn(acme, { sub: "ben" });
    const linked = await env.DIRECTORY.prepare(
      "select count(*) as methods from identities where user_id = ?",
    )
      .bind(subjectOf(tokenOf(by_provider)))
      .first("methods");
    expect(linked).toBe(2);
  });
});

describe("the setting SIGNIN_METHODS", () => {
  it("without passkeys in the setting, their pages and forms do not exist", async () => {
    const browser = openBrowser();
    expect((await browser.get("/signin")).text).not.toContain("passkey");
    for (const path of ["/signin/passkey/new", "/signin/passkey/recovery"]) {
      expect((await browser.get(path)).status).toBe(404);
    }
    for (const path of ["", "/start", "/register", "/recovery"]) {
      expect((await browser.post(`/signin/passkey${path}`)).status).toBe(404);
    }
    for (const path of ["/account/passkey", "/account/recovery-code"]) {
      expect((await browser.post(path)).status).toBe(404);
    }
  });

  it("with only passkeys in the setting, providers have no button and sign nobody in", async () => {
    const acme = openProviderDouble("acme");
    const browser = openBrowser({ ...connect(acme), ...ONLY_PASSKEYS });
    const { text } = await browser.get("/signin");
    expect(text).toContain("Continue with a passkey");
    expect(text).not.toContain("Acme");
    expect((await browser.get("/signin/acme")).status).toBe(404);
  });
});
