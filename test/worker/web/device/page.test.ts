import { env } from "cloudflare:workers";
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import worker from "../../../../src/worker.ts";
import {
  approvalForm,
  fromOwnPage,
  openPage,
  poll,
  postForm,
  startLogin,
  tokenId,
  holderOf,
} from "../../support/device_logins.ts";
import { BASE_URL, send, signIn } from "../../support/passbook.ts";

describe("the device page", () => {
  it("the device page sends a signed-out browser to sign-in and back", async () => {
    const { user_code } = await startLogin();
    const path = `/device?user_code=${user_code}`;
    const answer = await send("GET", path);
    expect(answer.status).toBe(303);
    const location = new URL(answer.headers.get("Location") ?? "");
    expect(location.pathname).toBe("/signin");
    const redirect_to = location.searchParams.get("redirect_to") ?? "";
    expect(redirect_to).toBe(`${BASE_URL}${path}`);

    const form = new URLSearchParams({ email: "ada@example.com", redirect_to });
    const landed = await send("POST", "/signin/dev", { body: form });
    expect(landed.headers.get("Location")).toBe(redirect_to);
    const Cookie = landed.headers
      .getSetCookie()
      .map((c) => c.split(";")[0])
      .join("; ");
    const page = await send("GET", path, { headers: { Cookie } });
    expect(page.status).toBe(200);
    expect(page.text).toContain(`${user_code.slice(0, 4)}-`);
  });

  it("the device page without a code shows the code field", async () => {
    const ada = await signIn();
    const page = await send("GET", "/device", { headers: { Cookie: ada.cookies } });
    expect(page.status).toBe(200);
    expect(page.text).toContain("Enter the code");
    expect(page.headers.get("Cache-Control")).toBe("no-store");
    expect(page.headers.get("Content-Security-Policy")).toContain("frame-ancestors 'none'");
  });

  it("the device page shows the code, the client and a warning, and escapes the client's text", async () => {
    const ada = await signIn();
    const says = { client_name: "<b>Build & co</b>", app: "demo" };
    const started = await send("POST", "/api/device/start", {
      headers: {
        "Content-Type": "application/json",
        "User-Agent": "Mozilla/5.0 (Windows NT 10.0) Gecko/20100101 Firefox/140.0",
      },
      body: JSON.stringify(says),
    });
    const { user_code } = started.body;
    const { status, text } = await openPage(ada, user_code);
    expect(status).toBe(200);
    const shown = [
      "&lt;b&gt;Build &amp; co&lt;/b&gt;",
      "demo (not registered here)",
      "Firefox on Windows",
    ];
    for (const words of [...shown, "only if you started this yourself"]) {
      expect(text).toContain(words);
    }
    expect(text).not.toContain("<script>");
    expect(text).not.toContain("style=");
  });

  it("the device page names the account that the device will use", async () => {
    const { user_code } = await startLogin();
    const { text } = await openPage(await signIn("grace@example.com"), user_code);
    expect(text).toContain("grace@example.com");
  });

  it("the device page names the location and warns if it is not the approver's country", async () => {
    const ada = await signIn();
    const from = async (cf: object, path: string, init: RequestInit = {}) => {
      const request = new Request(`${BASE_URL}${path}`, { ...init, cf } as RequestInit);
      const context = createExecutionContext();
      const response = await worker.fetch(request, env, context);
      await waitOnExecutionContext(context);
      return response;
    };
    const started = await from({ country: "DE", city: "Berlin" }, "/api/device/start", {
      method: "POST",
      headers: { "User-Agent": "Mozilla/5.0 (Windows NT 10.0) Gecko/20100101 Firefox/140.0" },
    });
    const { user_code } = await started.json<{ user_code: string }>();
    const page = { headers: { Cookie: ada.cookies } };
    const path = `/device?user_code=${user_code}`;
    const here = await (await from({ country: "DE" }, path, page)).text();
    expect(here).toContain("Berlin, Germany");
    expect(here).not.toContain("not the country that you are in now");
    const foreign = await (await from({ country: "FR" }, path, page)).text();
    expect(foreign).toContain("not the country that you are in now");
    const in_german = { headers: { ...page.headers, "Accept-Language": "de" } };
    const german = await (await from({ country: "FR" }, path, in_german)).text();
    expect(german).toContain("Ort: Berlin, Deutschland");
    expect(german).toContain("(Firefox unter Windows)");
    expect(german).toContain("– nicht das Land, in dem Sie jetzt sind");
  });

  it("the device page approves with limits, and a form with problems does not use up the code", async () => {
    const ada = await signIn();
    const { device_code, user_code } = await startLogin();
    await openPage(ada, user_code);
    const wrong: Record<string, string>[] = [
      { credits: "1.5" },
      { credits: "-1" },
      { reach: "some", other_apps: "No Slug!" },
    ];
    for (const fields of wrong) {
      const answer = await postForm(ada, "/device/approve", approvalForm(user_code, fields));
      expect(answer.status).toBe(400);
      expect(answer.text).toContain('role="alert"');
    }
    const limits = {
      access: "read",
      reach: "some",
      other_apps: "demo, second",
      credits: "50",
      period: "month",
    };
    const form = approvalForm(user_code, limits);
    const approved = await postForm(ada, "/device/approve", form);
    expect(approved.status).toBe(200);
    expect(approved.text).toContain("Device connected");
    const holder = holderOf((await poll(device_code)).body.token);
    expect(await tokenId(holder)).toBeTruthy();
    expect((await holder.get("/api/tokens")).body.tokens[0]).toMatchObject({
      scopes: ["read"],
      apps: ["demo", "second"],
      caps: [{ credits: 50, period: "month" }],
    });
  });

  it("an unchanged approval form gives reading and spending and nothing else", async () => {
    const ada = await signIn();
    const { device_code, user_code } = await startLogin();
    await postForm(ada, "/device/approve", approvalForm(user_code));
    const holder = holderOf((await poll(device_code)).body.token);
    expect((await holder.get("/api/tokens")).body.tokens[0]).toMatchObject({
      scopes: ["read", "write"],
      apps: null,
      caps: [],
    });
  });

  it("denied, used and unknown codes each have their own page", async () => {
    const ada = await signIn();
    const denied = (await startLogin()).user_code;
    expect((await postForm(ada, "/device/deny", { user_code: denied })).text).toContain(
      "Request denied",
    );
    const used = (await startLogin()).user_code;
    await postForm(ada, "/device/approve", approvalForm(used));
    const endings = [
      { code: denied, status: 410, words: "This request was denied" },
      { code: used, status: 410, words: "already used" },
      { code: "BCDF-GHJK", status: 400, words: "Unknown code" },
      { code: "nonsense", status: 400, words: "Unknown code" },
    ];
    for (const { code, status, words } of endings) {
      const page = await openPage(ada, code);
      expect(page.status).toBe(status);
      expect(page.text).toContain(words);
    }
  });

  it("an expired code has its own page", async () => {
    const ada = await signIn();
    const { user_code } = await startLogin({}, { DEVICE_CODE_TTL_SECONDS: "1" });
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const page = await openPage(ada, user_code);
    expect(page.status).toBe(410);
    expect(page.text).toContain("expired");
  });

  it("the device forms are accepted only from our own page and from signed-in people", async () => {
    const ada = await signIn();
    const { device_code, user_code } = await startLogin();
    const body = () => new URLSearchParams(approvalForm(user_code));
    for (const path of ["/device/approve", "/device/deny"]) {
      for (const Origin of ["https://evil.example", "null", "http://localhost:3000"]) {
        const headers = { Cookie: ada.cookies, Origin };
        expect((await send("POST", path, { headers, body: body() })).status).toBe(403);
      }
      const nowhere = { headers: { Cookie: ada.cookies }, body: body() };
      expect((await send("POST", path, nowhere)).status).toBe(403);
      const signed_out = { headers: { Origin: BASE_URL }, body: body() };
      expect((await send("POST", path, signed_out)).status).toBe(303);
      const jwt =
        ada.cookies.split("; ").find((cookie) => cookie.startsWith("passbook_token")) ?? "";
      const jwt_only = { headers: { Origin: BASE_URL, Cookie: jwt }, body: body() };
      expect((await send("POST", path, jwt_only)).status).toBe(303);
    }
    expect((await poll(device_code)).status).toBe(202);
    const same_origin = { Cookie: ada.cookies, "Sec-Fetch-Site": "same-origin" };
    const sent = await send("POST", "/device/approve", { headers: same_origin, body: body() });
    expect(sent.status).toBe(200);
  });

  it("an image or frame on another site does not open a code", async () => {
    const ada = await signIn();
    const { user_code } = await startLogin();
    for (const destination of ["image", "iframe", "empty"]) {
      const headers = { ...fromOwnPage(ada), "Sec-Fetch-Dest": destination };
      const path = `/device?user_code=${user_code}`;
      expect((await send("GET", path, { headers })).status).toBe(403);
    }
    const bob = await signIn("bob@example.com");
    expect((await openPage(bob, user_code)).status).toBe(200);
  });
});
