/** The page of everything with access, in a browser: who, what it spent, and how to stop it. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  expectForEverybody,
  layoutShifts,
  SCREENS,
  usePages,
} from "../support/pages_in_browser.ts";

const pages = usePages("access");

/** A client that describes itself by a document. */
let server: Server;
let origin: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    const is_document = request.url === "/client.json";
    response.setHeader("Content-Type", is_document ? "application/json" : "text/html");
    response.end(
      is_document
        ? JSON.stringify({
            client_id: `${origin}/client.json`,
            client_name: "Lantern",
            redirect_uris: [`${origin}/callback`],
            token_endpoint_auth_method: "none",
          })
        : "<!doctype html><title>Client</title><h1>Back at the client</h1>",
    );
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "localhost", resolve);
  });
  origin = `http://localhost:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server?.close());

type Body = Record<string, never>;

/** Sends JSON with a bearer token, or with none. */
async function post(token: string | null, path: string, body: object): Promise<Body> {
  const headers = {
    "Content-Type": "application/json",
    ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
  };
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  return (await fetch(pages.url + path, init)).json();
}

async function spend(token: string, app: string, cost: number): Promise<void> {
  const { job_id } = await post(token, "/api/jobs", { app, action: "draw", cost_estimate: cost });
  await post(token, "/api/jobs/complete", { job_id, actual_cost: cost });
}

async function sessionToken(page: Page): Promise<string> {
  return (await (await page.request.get(`${pages.url}/api/sessionToken`, { maxRetries: 2 })).json())
    .token;
}

/** A token with a limit of 50 credits, which spends them and 20 more that its holder approves. */
async function spendBeyondLimit(page: Page): Promise<string> {
  const login = await post(null, "/api/device/start", { client_name: "Build agent", app: "demo" });
  const cap = { credits: 50, period: "total" };
  const body = { user_code: login["user_code"], apps: ["demo"], caps: [cap] };
  const headers = { Origin: pages.url };
  await page.request.post(`${pages.url}/api/device/complete`, { headers, data: body });
  const query = new URLSearchParams({ device_code: String(login["device_code"]) });
  const polled = await fetch(`${pages.url}/api/device/poll?${query.toString()}`);
  const { token } = (await polled.json()) as { readonly token: string };
  await spend(token, "demo", 50);
  const job = { app: "demo", action: "render a film", cost_estimate: 20 };
  const { approval, approval_url } = await post(token, "/api/jobs", job);
  await page.goto(String(approval_url));
  await page.getByRole("button", { name: /Approve/ }).click();
  const { job_id } = await post(token, "/api/jobs", { ...job, approval });
  await post(token, "/api/jobs/complete", { job_id, actual_cost: 20 });
  return token;
}

/** Gives an agent less than the token may do. */
async function exchange(subject_token: string): Promise<void> {
  const token_type = "urn:ietf:params:oauth:token-type:access_token";
  const authorization_details = [
    { type: "passbook_spending", caps: [{ credits: 10, period: "day" }], expires_in: 3600 },
  ];
  const response = await fetch(`${pages.url}/oauth/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      subject_token_type: token_type,
      subject_token,
      authorization_details: JSON.stringify(authorization_details),
    }),
  });
  expect(response.status).toBe(200);
}

async function connectLantern(page: Page): Promise<void> {
  const query = new URLSearchParams({
    response_type: "code",
    client_id: `${origin}/client.json`,
    redirect_uri: `${origin}/callback`,
    scope: "read write offline_access",
    state: "state-1",
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
  });
  await page.goto(`${pages.url}/oauth/authorize?${query.toString()}`);
  await page.getByRole("button", { name: "Allow" }).click();
  await page.getByRole("heading", { name: "Back at the client" }).waitFor();
}

/** An account with everything that can have access. */
async function openFullAccount(email: string): Promise<Page> {
  const page = await pages.signIn(email);
  await pages.signIn(email, SCREENS.phone);
  const own = await sessionToken(page);
  for (const app of ["demo", "paint"]) {
    await fetch(`${pages.url}/api/wallet?app=${app}`, {
      headers: { Authorization: `Bearer ${own}` },
    });
  }
  await spend(own, "paint", 9);
  await post(own, "/api/jobs", { app: "paint", action: "draw", cost_estimate: 3 });
  await exchange(await spendBeyondLimit(page));
  await connectLantern(page);
  await page.goto(`${pages.url}/account/access`);
  return page;
}

async function look(page: Page, name: string): Promise<void> {
  await expectForEverybody(page, name);
  await pages.picture(page, name);
}

describe("the page of access in a browser", () => {
  it("a person sees who has access and what was spent, and stops it with the keyboard", async () => {
    const page = await openFullAccount("ada@example.com");
    await page.getByText("79 credits spent").waitFor();
    await page
      .getByText("70 of 50 credits in total spent, 20 of them in jobs that you approved")
      .waitFor();
    expect(await layoutShifts(page)).toEqual([]);
    await look(page, "full");
    for (const [name, screen] of Object.entries(SCREENS)) {
      for (const colorScheme of ["light", "dark"] as const) {
        await page.setViewportSize(screen.viewport);
        await page.emulateMedia({ colorScheme });
        await pages.picture(page, `full-${name}-${colorScheme}`);
      }
    }
    await page.setViewportSize(SCREENS.wide.viewport);
    await page.emulateMedia({ colorScheme: "light" });
    const stop = page.getByRole("link", { name: "Stop Paint" });
    await stop.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Stop Paint?" }).waitFor();
    await look(page, "stop");
    await page.getByRole("button", { name: "Stop Paint" }).press("Enter");
    await page.getByText("Stopped.").waitFor();
    await look(page, "stopped");
    await page.getByRole("button", { name: /^Allow again/ }).press("Enter");
    await page.getByText("Allowed.").waitFor();
    await page.getByRole("link", { name: "Revoke Lantern" }).press("Enter");
    await look(page, "revoke");
    await page.getByRole("button", { name: "Revoke" }).press("Enter");
    await page.getByText("Revoked. It stopped here at once.").waitFor();
    await page.goto(`${pages.url}/account`);
    await look(page, "overview");
    await page.setViewportSize(SCREENS.phone.viewport);
    await pages.picture(page, "overview-phone");
  });

  it("a new account says that only this browser has access", async () => {
    const page = await pages.signIn("new@example.com");
    await page.goto(`${pages.url}/account/access`);
    await page.getByText("Nothing else has access.").waitFor();
    await look(page, "empty");
  });
});
