/**
 * The code of the guides for apps, as written, against one service. Each test uses every block of its guide. Replaced are:
 * the address of the service, ids that an earlier response gave, the https address of a webhook's receiver by one of this
 * machine, and a date that is over. Only the icon of docs/apps.md cannot be had here, since nobody serves
 * sketch.example.com: its command is refused, as the guide says, and then runs without it.
 */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { createClient } from "../../../src/client/index.ts";
import { createAppClient, createTokenVerifier } from "../../../src/client/server.ts";
import { freePort } from "../../../src/commands/local_worker.ts";
import { goThrough } from "../../worker/oauth/conformance/passbook_target.ts";
import { openVisitor, type Page } from "../../worker/oauth/conformance/visitor.ts";
import { familyOf } from "../commands/processes.ts";
import { goThroughProvider } from "../flows/real_provider.ts";
import { approveDevice, signInOnPages } from "../oauth/service.ts";
import { launchBrowser } from "../support/chromium.ts";
import { bundleReactPage } from "./react_page.ts";
import { startGuideService, type GuideService } from "./service.ts";

const SLOW = { tags: "slow" };
const ADA = "ada@example.com";
const DAY_SECONDS = 86_400;
const WAITING = { timeout: 20_000, interval: 200 };

/** The client of the person whose token is in `TOKEN`, which the guides have made before. */
const CLIENT = `import { createClient } from "passbook-client";
const client = createClient({ baseUrl: process.env.BASE_URL, token: process.env.TOKEN });`;

let service: GuideService;

beforeAll(async () => {
  service = await startGuideService({
    apps: ["paint", { slug: "films", settle: "app" }],
    people: [
      { email: ADA, credits: 100 },
      "bob@example.com",
      "eve@example.com",
      "fay@example.com",
      "kim@example.com",
      { email: "liv@example.com", credits: 100 },
    ],
  });
}, 240_000);
afterAll(() => service?.stop());

/** The client of a person, as a page of Passbook's own has it. */
async function clientOf(email: string) {
  const token = await service.passbook.tokenOf(email);
  return { token, client: createClient({ baseUrl: service.passbook.url, token }) };
}

const creditsOf = async (email: string): Promise<number> =>
  (await (await clientOf(email)).client.wallet()).account.credits;

const visitorOf = () => openVisitor(service.passbook.url, fetch);

function formOf(page: Page, button: RegExp) {
  const form = page.forms.find(({ buttons }) => buttons.some(({ text }) => button.test(text)));
  if (form === undefined) throw new Error(`No button ${String(button)}: ${page.html}`);
  return form;
}

describe("the guides", SLOW, () => {
  it("the code of docs/apps.md registers an app, runs its jobs, and limits their cost", async () => {
    const guide = service.open("docs/apps.md");
    const { url } = service.passbook;
    const bob = "bob@example.com";
    const origin = "https://sketch.example.com";
    // Before the app is registered, because the kit opens accounts for all apps.
    const token = await service.passbook.tokenOf(bob, { origin });
    const identity = service.passbook.identityOf(bob);
    const registered = await service.operate(guide.take("apps set sketch --name"));
    const [key = ""] = /pb_app_\S+/.exec(registered) ?? [];
    const env = { TOKEN: token, SKETCH_KEY: key, IDENTITY: identity };
    const before = `const [baseUrl, token] = [process.env.BASE_URL, process.env.TOKEN];
      const render = async () => "a picture";`;
    const after = "console.log(result, (await passbook.wallet()).account.credits);";
    const wallet = await guide.run('wallet({ app: "sketch" })', {
      env,
      before,
      after: "console.log((await createClient({ baseUrl, token }).wallet()).account.credits);",
    });
    expect(wallet).toBe("100\n");
    expect(await guide.run("createTokenVerifier", { env, before, after })).toBe("a picture 75\n");

    await service.passbook.give(bob, 100);
    const film = await guide.run('action: "film"', {
      env,
      before: `import { createAppClient } from "passbook-client/server";
        const { BASE_URL: baseUrl, SKETCH_KEY: key, IDENTITY: identity } = process.env;
        const passbook = createAppClient({ baseUrl, key, identity, maxRetries: 0 });
        const shoot = async (signal, report) => {
          for (const frame of [60, 120]) await report(frame, frame / 6);
          return { cost: 20 };
        };`,
      after: `const [job] = (await passbook.jobs.list()).jobs;
        console.log(job.actual_cost, job.spent, job.done, job.message);`,
    });
    expect(film).toBe("20 20 0.5 Frame 120 of 240\n");

    const python = 'import os\ntoken = os.environ["TOKEN"]\ndef render(): return "a picture"\n';
    expect(await guide.run("from passbook_client", { env, before: python })).toBe("130\n");

    const { client } = await clientOf(bob);
    const limit = guide.take("--max-overage 50");
    await service.operate(limit);
    const app = createAppClient({ baseUrl: url, key, identity });
    const job = { app: "sketch", action: "render", costEstimate: 20 };
    const { job_id } = await app.jobs.create(job);
    await expect(client.jobs.complete({ jobId: job_id, actualCost: 0 })).rejects.toMatchObject({
      code: "app_settles",
    });
    const dear = app.jobs.complete({ jobId: job_id, actualCost: 31 });
    await expect(dear).rejects.toMatchObject({ code: "overage_limit", body: { limit: 30 } });
    expect(await app.jobs.complete({ jobId: job_id, actualCost: 30 })).toMatchObject({
      credits: 100,
    });

    for (const option of ["--upstream-provider google", "--exclude-domain mailinator.com"]) {
      await service.operate(guide.take(option));
    }
    const icon = guide.take("--icon https://sketch.example.com/icon.png");
    await expect(service.operate(icon)).rejects.toThrow(/icon/);
    await service.operate(icon.replace(/--icon \S+/, ""));
    const saved = await service.operate("passbook admin apps --json");
    const { apps } = JSON.parse(saved) as { apps: { slug: string }[] };
    expect(apps.find(({ slug }) => slug === "sketch")).toMatchObject({
      name: "Sketch",
      origins: [origin],
      starter_credits: 100,
      daily_starter_budget: 10_000,
      settle: "app",
      max_overage_percent: 50,
      upstream_providers: ["google"],
      color: "#12507b",
      suggested_cap: { credits: 500, period: "month" },
      starter_excluded_domains: ["mailinator.com", "guerrillamail.com"],
    });

    // So that the people of other tests get none.
    await service.operate("passbook admin apps set sketch --starter-credits 0");

    const page = await bundleReactPage(
      service.folder,
      `${guide.take("createRoot")}
       globalThis.send = async () => {\n${guide.take('fetch("/render"')}};`,
    );
    const received: string[] = [];
    const site = createServer((request, response) => {
      if (request.url === "/render") received.push(request.headers.authorization ?? "");
      const type = request.url === "/page.js" ? "text/javascript" : "text/html";
      response.writeHead(200, { "Content-Type": `${type}; charset=utf-8` });
      const html = '<div id="root"></div><script type="module" src="/page.js"></script>';
      response.end(type === "text/html" ? html : page);
    });
    const home = `http://localhost:${await freePort()}`;
    await new Promise<void>((done) => site.listen(Number(new URL(home).port), "localhost", done));
    const browser = await launchBrowser();
    onTestFinished(async () => {
      await browser.close();
      site.closeAllConnections();
      site.close();
    });
    const view = await browser.newPage();
    await view.goto(home);
    await view.getByRole("button", { name: "Sign in" }).click();
    await view.getByLabel("E-mail").fill(bob);
    await view.keyboard.press("Enter");
    await view.getByText("100 credits, 0 held").waitFor();
    await service.passbook.give(bob, 7);
    await view.getByText("107 credits, 0 held").waitFor();
    await view.evaluate("send()");
    const verify = createTokenVerifier({ baseUrl: url, origins: [home] });
    const [sent = ""] = received;
    expect(await verify(sent.replace("Bearer ", ""))).toMatchObject({ identity_id: identity });
    expect(guide.left()).toEqual([]);
  });

  it("the code of docs/webhooks.md creates a webhook, handles its events, and keeps balances", async () => {
    const guide = service.open("docs/webhooks.md");
    const eve = "eve@example.com";
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/passbook`;
    const env = { APP_KEY: service.passbook.keyOf("paint"), PORT: String(port) };
    const created = await guide.run("curl -X PUT", {
      env,
      replace: { "https://paint.example/passbook": url },
    });
    const [secret = ""] = /whsec_[^"]+/.exec(created) ?? [];
    const handler = await guide.start("verifyWebhook", {
      env: { ...env, PASSBOOK_WEBHOOK_SECRET: secret },
      before: `import { serve } from "@hono/node-server";
        const [cancelRender, sendMail] = [console.log, console.log];
        const handled = new Map();
        handled.put = handled.set;`,
      after: `void import(import.meta.url).then(({ default: handler }) =>
          serve({
            port: Number(process.env.PORT),
            fetch: (request) => handler.fetch(request, { ...process.env, handled }),
          }, () => console.log("Listening")));`,
    });
    onTestFinished(() => void handler.child.kill());
    await handler.heard(/Listening/);
    const forged = await fetch(url, { method: "POST", body: "{}" });
    const unsigned = "The request lacks a header of Standard Webhooks.";
    expect([forged.status, await forged.text()]).toEqual([400, unsigned]);
    await service.passbook.give(eve, 100);
    const { client } = await clientOf(eve);
    const { job_id } = await client.jobs.create({ app: "paint", action: "draw", costEstimate: 95 });
    await client.jobs.complete({ jobId: job_id, actualCost: 95 });
    const identity = service.passbook.identityOf(eve);
    await handler.heard(new RegExp(`${identity} 5\n`));

    // The table of commands.
    const commands = guide.commands("passbook admin apps");
    expect(commands).toHaveLength(6);
    for (const command of commands) {
      const done = await service.operate(
        command.replace("<identity>", identity).replace("<line>", "0"),
      );
      expect(done, command).not.toBe("");
    }
    // The sample is signed as real events are.
    await service.operate("passbook admin apps test-webhook paint main --type job.expired");
    await handler.heard(/^[\da-f-]{36}\n/m);

    const kept = async () => {
      const events = JSON.stringify(service.passbook.events.received);
      const keeping = service.open("docs/webhooks.md");
      return keeping.run("balances.get(identity_id)", {
        env: { EVENTS: events },
        before: `const balances = new Map();
          for (const event of JSON.parse(process.env.EVENTS)) {`,
        after: `}\nconsole.log(JSON.stringify(balances.get("${identity}") ?? "nothing"));`,
      });
    };
    guide.take("balances.get(identity_id)");
    await vi.waitFor(async () => {
      const balance = { credits: 5, held: 0, bought: 0 };
      expect(JSON.parse(await kept())).toMatchObject(balance);
    }, WAITING);
    await client.stopApp("paint", { startedJobs: "keep" });
    await vi.waitFor(async () => expect(await kept()).toBe('"nothing"\n'), WAITING);
    expect(guide.left()).toEqual([]);
  });

  it("the code of docs/events.md shows entry 42, after entry 41, in each way", async () => {
    const guide = service.open("docs/events.md");
    const fay = "fay@example.com";
    const { client, token } = await clientOf(fay);
    // Entry 1 opens the account.
    for (const amount of [60, 40]) await service.passbook.give(fay, amount);
    const job = { action: "draw", ttlSeconds: 600 };
    for (let line = 3; line < 41; line += 2) {
      const { job_id } = await client.jobs.create({ ...job, app: "paint", costEstimate: 1 });
      await client.jobs.fail({ jobId: job_id });
    }
    await client.jobs.create({ ...job, app: "sketch", costEstimate: 30 });
    const {
      job: _,
      at: __,
      ...shown
    } = JSON.parse(guide.take('"line": 42')) as Record<string, unknown>;
    const env = { TOKEN: token, PASSBOOK_TOKEN: token, PASSBOOK_URL: service.passbook.url };
    const loop = await guide.start("client.events(", {
      env,
      before: `${CLIENT}
        const { signal } = new AbortController();
        const show = (credits, held) => console.log("shown", credits, held);
        const forgetConnection = (id) => console.log("revoked", id);`,
    });
    onTestFinished(() => void loop.child.kill());
    await loop.heard(/^shown 70 30\n/);
    // Each line of the block goes on until it is stopped.
    for (const command of guide.take("passbook watch").trim().split("\n")) {
      const watching = service.shell(command, env);
      const [entry] = await watching.heard(/\{"line":.*\}(?=\n)/);
      expect(JSON.parse(entry)).toMatchObject(shown);
      for (const pid of familyOf(watching.child.pid ?? 0)) process.kill(pid);
    }
    const connecting = service.shell(
      `passbook connect --url ${service.passbook.url} --budget 5/month`,
    );
    const [, address = ""] = await connecting.heard(/Open\s+(\S+)\s/);
    await fetch(await goThrough(visitorOf(), address, fay));
    await connecting.done();
    const [connection] = await client.tokens.list();
    await client.tokens.revoke(connection?.id ?? "");
    await loop.heard(new RegExp(`^revoked ${connection?.id}\n`, "m"));
    expect(guide.left()).toEqual([]);
  });

  it("the code of docs/device-login.md signs a device in, each way", async () => {
    const guide = service.open("docs/device-login.md");
    const issuer = service.passbook.url;
    const login = await guide.start("passbook login");
    const [, code = ""] = await login.heard(/Enter\s+([A-Z-]{9})/);
    await approveDevice({ issuer }, code, "kim@example.com");
    await login.done();
    expect(await service.shell("passbook whoami").done()).toContain("kim@example.com");

    const [start = "", poll = ""] = guide.take("/api/device/start").split(/(?=^curl -s ")/m);
    const started = await service.shell(start).done();
    const [, device_code = ""] = /"device_code": ?"([^"]+)"/.exec(started) ?? [];
    const [, user_code = ""] = /"user_code": ?"([^"]+)"/.exec(started) ?? [];
    const polling = poll.replace("…", device_code);
    expect(await service.shell(polling).done()).toContain("authorization_pending");
    await approveDevice({ issuer }, user_code, "kim@example.com");
    expect(await service.shell(polling).done()).toMatch(/"token": ?"pb_pat_/);

    const standard = guide.take("CLIENT_ID=") + guide.take("read -r _");
    const shell = service.shell(standard);
    const [, standard_code = ""] = await shell.heard(/user_code=([A-Z-]{9})\n/);
    await approveDevice({ issuer }, standard_code, "kim@example.com");
    shell.child.stdin?.end("\n");
    expect(await shell.done()).toMatch(/"access_token":"pb_pat_[^"]+","token_type":"Bearer"/);
    expect(guide.left()).toEqual([]);
  });

  it("the code of docs/personal-tokens.md makes tokens, limits them, and asks for approval", async () => {
    const guide = service.open("docs/personal-tokens.md");
    const issuer = service.passbook.url;
    const kim = "kim@example.com";
    await service.passbook.give(kim, 100);
    await service.operate(
      "passbook admin apps set films --settle holder --origin https://films.example",
    );
    const login = await guide.start("passbook login");
    const [, code = ""] = await login.heard(/Enter\s+([A-Z-]{9})/);
    await approveDevice({ issuer }, code, kim);
    expect(await login.done()).toContain('"credits":100');

    const limits = JSON.parse(guide.take('"user_code": "BCDF-GHJK"')) as { user_code?: string };
    delete limits.user_code;
    const device = await fetch(`${issuer}/api/device/start`, { method: "POST" });
    const { user_code, device_code } = (await device.json()) as Record<string, string>;
    await approveDevice({ issuer }, user_code ?? "", kim, { ...limits, apps: ["films"] });
    const polled = await fetch(`${issuer}/api/device/poll?device_code=${device_code}`);
    const { token = "" } = (await polled.json()) as { token?: string };
    const capped = createClient({ baseUrl: issuer, token });
    const [own] = await capped.tokens.list();
    expect(own?.caps).toMatchObject([
      { credits: 50, period: "month" },
      { credits: 10, period: "day" },
    ]);
    const patch = guide.take("PATCH /api/tokens");
    const [request = "", body = ""] = patch.split("\n\n");
    const [method = ""] = request.split(" ");
    const headers = await signInOnPages(issuer, kim);
    const at = `${issuer}/api/tokens/${own?.id}`;
    const patched = await (await fetch(at, { method, headers, body })).json();
    expect(patched).toMatchObject({ caps: [{ credits: 100, period: "month" }] });
    const lower = JSON.stringify({ caps: [{ credits: 10, period: "total" }] });
    expect((await fetch(at, { method, headers, body: lower })).status).toBe(200);

    const passbook = `${CLIENT}\nconst passbook = client;`;
    const film = await guide.start("onApprovalNeeded", {
      env: { TOKEN: token },
      before: `${passbook}
        const show = console.log;
        const work = async () => ({ result: null, actualCost: 25 });`,
      after: 'console.log("made");',
    });
    const [, approval_url = ""] = await film.heard(/needs your approval: (\S+)\n/);
    await goThroughApproval(approval_url, kim, /^Approve/);
    expect(await film.done()).toMatch(/\nmade\n$/);
    expect(await creditsOf(kim)).toBe(75);

    const way_back = await guide.run('searchParams.set("return_to"', {
      env: { TOKEN: token },
      before: `${passbook}
        const job = { app: "films", action: "render a film", costEstimate: 30 };
        const refusal = await passbook.jobs.create(job).catch((error) => error);`,
      after: "console.log(url.href);",
    });
    const left = await goThroughApproval(way_back.trim(), kim, /^Deny/);
    expect(left).toBe("https://films.example/jobs/7?result=denied");

    const exchanged = await guide.run("urn:ietf:params:oauth:grant-type:token-exchange", {
      env: { TOKEN: (await service.shell("passbook token").done()).trim() },
    });
    const { access_token } = JSON.parse(exchanged.slice(exchanged.indexOf("{"))) as {
      access_token: string;
    };
    const agent = createClient({ baseUrl: issuer, token: access_token });
    expect((await agent.wallet()).room).toBe(50);
    expect(guide.left()).toEqual([]);
  });

  it("the commands of docs/third-party-tokens.md get the token that a sign-in at the provider gave", async () => {
    const guide = service.open("docs/third-party-tokens.md");
    const { provider, passbook } = service;
    const back = encodeURIComponent("http://localhost:3000/");
    const started = await fetch(`${passbook.url}/signin/github?redirect_to=${back}`, {
      headers: { "Sec-Fetch-Site": "same-origin" },
      redirect: "manual",
    });
    const [flow = ""] = started.headers.getSetCookie();
    const at_github = new URL(started.headers.get("Location") ?? "");
    const callback = `${passbook.url}/signin/callback/github`;
    const allowed = await goThroughProvider(at_github, "ada", callback);
    const headers = { Cookie: flow.split(";")[0] ?? "" };
    const landed = await fetch(allowed, { headers, redirect: "manual" });
    const TOKEN = new URL(landed.headers.get("Location") ?? "").searchParams.get("token") ?? "";
    const printed = await guide.run("/api/oauthToken/github", { env: { TOKEN } });
    const tokens = [...printed.matchAll(/\{"token":"([^"]+)"\}/g)].map(([, token = ""]) => token);
    expect(tokens).toHaveLength(2);
    for (const token of tokens) expect(await provider.subjectOf(token)).toBe("ada");
    expect(guide.left()).toEqual([]);
  });

  it("the code of docs/payments.md books a payment whose event was lost, and waits for a top-up", async () => {
    const guide = service.open("docs/payments.md");
    const { stripe } = service;
    const { client, token } = await clientOf("liv@example.com");
    const { url } = await client.checkout({ package: "small", returnTo: "http://localhost:3000/" });
    stripe.completes(url.split("/").at(-1) ?? "");
    const reconciled = await service.operate(guide.take("passbook admin reconcile"));
    expect(reconciled).toContain(service.passbook.identityOf("liv@example.com"));
    expect(await creditsOf("liv@example.com")).toBe(200);

    const visitor = visitorOf();
    await saveCard(visitor, "liv@example.com");
    const ran = await guide.run("waitForTopUp", {
      env: { TOKEN: token },
      before: `${CLIENT}
        const job = { app: "paint", action: "draw", costEstimate: 150 };
        const work = async () => ({ result: null, actualCost: 150 });
        await client.runJob(job, work);`,
      after: "console.log((await client.wallet()).account.credits);",
    });
    expect(ran).toBe("0\n");
    expect(guide.left()).toEqual([]);
  });

  // It moves the clock, so it comes last.
  it("the commands and the example of docs/credits.md have the balances of its table", async () => {
    const guide = service.open("docs/credits.md");
    const { passbook } = service;
    const identity = passbook.identityOf(ADA);
    const env = { ADA: identity, OPERATOR: await service.operatorToken() };
    const key = passbook.keyOf("paint");
    const app = createAppClient({ baseUrl: passbook.url, key, identity });
    const ends_at = new Date(Date.now() + 3 * DAY_SECONDS * 1000);
    const job = { app: "paint", action: "draw", ttlSeconds: 10 * DAY_SECONDS };
    const jobs: string[] = [];
    const create = async (costEstimate: number) =>
      jobs.push((await app.jobs.create({ ...job, costEstimate })).job_id);
    const steps = [
      () =>
        guide.run("/credits", { env, replace: { "2026-11-04T00:00:00Z": ends_at.toISOString() } }),
      () => create(60),
      () => app.jobs.complete({ jobId: jobs[0] ?? "", actualCost: 20 }),
      () => create(10),
      async () => {},
      () => app.jobs.fail({ jobId: jobs[1] ?? "" }),
    ];
    const rows = exampleOf("docs/credits.md");
    expect(rows).toHaveLength(steps.length);
    let today = rows[0]?.day ?? 0;
    for (const [index, { day, ...balances }] of rows.entries()) {
      await passbook.advance((day - today) * DAY_SECONDS);
      today = day;
      await steps[index]?.();
      const { client } = await clientOf(ADA);
      const { account, held, lots } = await client.wallet();
      const lot = lots.reduce((sum, { left }) => sum + left, 0);
      const { credits: balance } = account;
      expect({ lot, base: balance - lot, held, balance }, `row ${index + 1}`).toEqual(balances);
    }

    await guide.run("/api/admin/plans/studio", { env });
    for (const command of guide.commands("passbook admin plan")) await service.operate(command);
    const printed = await guide.run('client.wallet({ app: "paint" })', {
      env: { TOKEN: await passbook.tokenOf(ADA) },
      before: CLIENT,
      after: "console.log(JSON.stringify({ account, spendable, next_expiry, lots }));",
    });
    expect(JSON.parse(printed)).toMatchObject({
      account: { credits: 1_110 },
      spendable: 1_110,
      next_expiry: { credits: 10 },
      lots: [
        { left: 10, origin: "returned" },
        { left: 1_000, origin: "recurring" },
      ],
    });
    expect(guide.left()).toEqual([]);
  });
});

/** The rows of the table under "An example". */
function exampleOf(file: string) {
  const rows = readFileSync(file, "utf8").matchAll(/^\| (\d+) November \|.*$/gm);
  return [...rows].map(([row, day]) => {
    const [lot = 0, base = 0, held = 0, balance = 0] = row.split("|").slice(3, 7).map(Number);
    return { day: Number(day), lot, base, held, balance };
  });
}

/** Signs a person in at the address of an approval, and decides. @returns where the page leads, or its address */
async function goThroughApproval(address: string, email: string, button: RegExp): Promise<string> {
  const visitor = visitorOf();
  let landing = await visitor.open(new URL(address));
  if (landing.kind === "page" && landing.page.html.includes("/signin/dev")) {
    landing = await visitor.submit(formOf(landing.page, /Sign in/), { email });
  }
  if (landing.kind !== "page") throw new Error(landing.url.href);
  const form = formOf(landing.page, button);
  // "Deny" has an address of its own in the form, which the visitor does not read.
  const path = button.test("Deny") ? "/deny" : "/approve";
  const action = new URL(form.action.href.replace(/\/approve(?=\?|$)/, path));
  const decided = await visitor.submit({ ...form, action }, {}, button);
  return decided.kind === "page" ? decided.page.url.href : decided.url.href;
}

/** Saves a card for automatic top-up, as a person does on its page and on Stripe's. */
async function saveCard(visitor: ReturnType<typeof visitorOf>, email: string): Promise<void> {
  const address = `${service.passbook.url}/account/top-up`;
  let landing = await visitor.open(new URL(address));
  if (landing.kind === "page" && landing.page.html.includes("/signin/dev")) {
    landing = await visitor.submit(formOf(landing.page, /Sign in/), { email });
  }
  if (landing.kind !== "page") throw new Error(landing.url.href);
  const choices = { package: "small", threshold: "100", month_limit: "5.00" };
  const form = formOf(landing.page, /Save a card/);
  const at_stripe = await visitor.submit(form, choices, /Save a card/);
  if (at_stripe.kind === "page") throw new Error(at_stripe.page.html);
  const id = at_stripe.url.pathname.split("/").at(-1) ?? "";
  service.stripe.savesCard(id);
  const back = service.stripe.sessions.get(id)?.success_url ?? "";
  await visitor.open(new URL(back.replace("{CHECKOUT_SESSION_ID}", id)));
}
