import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { dump } from "../../support/account_object.ts";
import { BASE_URL, send, signIn, signInWithCredits } from "../../support/passbook.ts";
import { expectOnEach, ROUTES } from "../../support/routes.ts";
import { openAppServer } from "../../http/caller/app_server.ts";
import { personalToken, SETTINGS, signInOperator } from "../../http/api/admin/operators.ts";
import { openConsole, pageOf } from "./pages.ts";

/** All routes of the console, as the app has them. */
const CONSOLE_ROUTES = ROUTES.filter(({ path }) => /^\/console(\/|$)/.test(path));

const HTML = { Accept: "text/html" };
const FORM = {
  key: "a-key",
  direction: "give",
  amount: "5",
  reason: "why",
  confirmed: "yes",
  plan: "gold",
};

const filled = (path: string, identity_id: string, slug: string) =>
  path.replace(":identity_id", identity_id).replace(":slug", slug);

function ask(method: string, path: string, headers: Record<string, string>, settings = SETTINGS) {
  const body = method === "POST" ? { body: new URLSearchParams(FORM) } : {};
  return send(method, path, { headers: { ...HTML, ...headers }, ...body }, settings);
}

/** The state of the account and the directory that actions would change. */
async function everything(identity_id: string): Promise<string> {
  const tables = await env.DIRECTORY.batch([
    env.DIRECTORY.prepare("select * from audit"),
    env.DIRECTORY.prepare("select * from apps"),
    env.DIRECTORY.prepare("select * from app_keys"),
  ]);
  return JSON.stringify([await dump(identity_id), tables.map(({ results }) => results)]);
}

it("these tests cover all routes of the console", () => {
  expect(CONSOLE_ROUTES.length).toBeGreaterThanOrEqual(27);
});

describe("every route of the console", () => {
  it("serves only operators in their own browser; others learn nothing and change nothing", async () => {
    const ada = await signInWithCredits();
    const bob = await signIn("bob@example.com");
    const server = await openAppServer("demo");
    const { olga } = await openConsole();
    const admin = await personalToken(olga.person, { scopes: ["admin"] });
    const jwt =
      olga.person.cookies.split("; ").find((it) => it.startsWith("passbook_token=")) ?? "";
    const bearer = (token: string | undefined) => ({ Authorization: `Bearer ${token ?? ""}` });
    const from_us = { Origin: BASE_URL };
    const callers = [
      ["nobody", { ...from_us }, 303],
      ["somebody who is no operator", { ...from_us, Cookie: bob.cookies }, 403],
      ["an operator's session token", { ...from_us, ...bearer(olga.person.token) }, 303],
      ["an operator's admin token", { ...from_us, ...bearer(admin?.token) }, 303],
      ["an app's key", { ...from_us, ...bearer(server.key) }, 303],
      ["the token cookie without its session", { ...from_us, Cookie: jwt }, 303],
      [
        "an allowed app's page with the operator's cookie",
        { Origin: "http://localhost:3000", Cookie: olga.person.cookies },
        403,
      ],
      [
        "a stranger's script with the operator's cookie",
        {
          Cookie: olga.person.cookies,
          "Sec-Fetch-Site": "cross-site",
          "Sec-Fetch-Mode": "no-cors",
        },
        403,
      ],
    ] as const;
    const before = await everything(ada.identity_id);
    await expectOnEach(CONSOLE_ROUTES, async ({ method, path }, network) => {
      for (const [who, headers, status] of callers) {
        const answers = [];
        for (const [identity_id, slug] of [
          [ada.identity_id, "demo"],
          ["user_nobody", "nothing"],
        ] as const) {
          const address = filled(path, identity_id, slug);
          const answer = await ask(method, address, { ...network, ...headers });
          expect(answer.status, who).toBe(status);
          if (status === 303) {
            expect(answer.headers.get("Location"), who).toContain("/signin?redirect_to=");
          }
          answers.push(answer.text);
        }
        expect(answers[0], who).toBe(answers[1]);
        expect(answers[0], who).not.toContain("ada@example.com");
      }
      expect(await everything(ada.identity_id)).toBe(before);
    });
  });
});

describe("access to the console", () => {
  it("a signed-out operator signs in and returns to the same page or the form's page", async () => {
    const to = async (method: string, path: string) => {
      const answer = await ask(method, path, { Origin: BASE_URL });
      const location = new URL(answer.headers.get("Location") ?? "");
      return new URL(location.searchParams.get("redirect_to") ?? "");
    };
    const { pathname, search } = await to("GET", "/console/accounts?q=ada");
    expect(pathname + search).toBe("/console/accounts?q=ada");
    expect((await to("POST", "/console/accounts/user_1/credits")).pathname).toBe(
      "/console/accounts/user_1",
    );
  });

  it("a non-operator gets the same page with a link to their account, whatever the path names", async () => {
    const bob = await signIn("bob@example.com");
    for (const path of ["/console", "/console/nowhere"]) {
      const { status, text } = await ask("GET", path, { Cookie: bob.cookies });
      expect(status).toBe(403);
      expect(text).toContain("This page is for operators only");
      expect(text).toContain('href="/account"');
    }
  });

  it("a suspended operator and one with an unverified e-mail address cannot use the console", async () => {
    const { open, olga } = await openConsole();
    expect((await open("/console")).status).toBe(200);
    await env.DIRECTORY.prepare("update users set email_verified = 0").run();
    expect((await open("/console")).status).toBe(403);
    await env.DIRECTORY.prepare("update users set email_verified = 1").run();
    await env.ACCOUNT.getByName(olga.person.identity_id).suspend();
    const shut = await open("/console");
    expect(shut.status).toBe(403);
    expect(shut.text).toContain("suspended");
  });

  it("a link on another site can open the console", async () => {
    const { person } = await signInOperator();
    const headers = {
      Cookie: person.cookies,
      "Sec-Fetch-Site": "cross-site",
      "Sec-Fetch-Mode": "navigate",
    };
    expect((await ask("GET", "/console", headers)).status).toBe(200);
  });

  it("the write limit applies to the console's forms", async () => {
    const { submit } = await openConsole();
    const ada = await signInWithCredits();
    const limiter = { limit: async () => ({ success: false }) };
    const settings = { ...SETTINGS, LIMIT_WRITES: limiter };
    const limited = await submit(pageOf(ada, "/suspend"), FORM, settings);
    expect(limited.status).toBe(429);
    expect((await ada.get("/api/wallet")).status).toBe(200);
  });
});

describe("the link to the console", () => {
  it("only an operator's account pages link to the console", async () => {
    const { open } = await openConsole();
    const bob = await signIn("bob@example.com");
    for (const path of ["/account", "/account/jobs", "/account/statement", "/account/access"]) {
      expect((await open(path)).text, path).toContain('<a href="/console">Console</a>');
      const his = await ask("GET", path, { Cookie: bob.cookies });
      expect(his.text, path).not.toContain("/console");
    }
  });
});
