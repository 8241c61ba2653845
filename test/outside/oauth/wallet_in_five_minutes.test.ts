/** docs/oauth.md, "Connect a wallet in five minutes": its code is that of the example, which people use here. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../../src/commands/local_worker.ts";
import { goThrough, openPassbookVisitor } from "../../worker/oauth/conformance/passbook_target.ts";
import { openVisitor, type Landing, type Page } from "../../worker/oauth/conformance/visitor.ts";
import { sign } from "../../worker/payments/stripe_double.ts";
import type { Installed } from "../support/installed.ts";
import { startStripe, type StripeServer } from "../support/stripe_server.ts";
import { installExamples, startOAuthService, startProgram, type OAuthService } from "./service.ts";

const SLOW = { tags: "slow" };

let stripe: StripeServer;
let service: OAuthService;
let installed: Installed;
let origin: string;
let stop: () => void;

beforeAll(async () => {
  stripe = await startStripe();
  [service, installed] = await Promise.all([
    startOAuthService("wallet", stripe.settings),
    installExamples(),
  ]);
  const port = await freePort();
  const env = { PASSBOOK_URL: service.issuer, PORT: String(port) };
  const program = await startProgram(join(installed.folder, "oauth/app.mjs"), env, /Listening/);
  origin = `http://localhost:${port}`;
  stop = () => program.kill();
});

afterAll(async () => {
  stop?.();
  await service?.stop();
  await installed?.remove();
  stripe?.close();
});

const pageOf = (landing: Landing): Page => {
  if (landing.kind === "page") return landing.page;
  throw new Error(`It left to ${landing.url.href}.`);
};
const leftTo = (landing: Landing): URL => {
  if (landing.kind === "left") return landing.url;
  throw new Error(landing.page.html);
};
/** The address of the only link with this text. */
function linkOf({ html, url }: Page, text: RegExp): URL {
  const links = [...html.matchAll(/<a [^>]*href="([^"]*)"[^>]*>([^<]*)/g)];
  const [found, ...others] = links.filter(([, , shown = ""]) => text.test(shown));
  if (found?.[1] === undefined || others.length > 0) throw new Error(html);
  return new URL(found[1].replaceAll("&amp;", "&"), url);
}

/** A person with a browser at the app and one at Passbook, who connects the app with this limit. */
async function connect(email: string, credits: string) {
  const [app, passbook] = [openVisitor(origin, fetch), openPassbookVisitor(service)];
  const press = async (page: Page, button: RegExp): Promise<Landing> => {
    const form = page.forms.find(({ buttons }) => buttons.some(({ text }) => button.test(text)));
    if (form === undefined) throw new Error(page.html);
    return app.submit(form, {}, button);
  };
  const home = pageOf(await app.open(new URL(origin)));
  const consent = leftTo(await press(home, /Connect/));
  const back = await goThrough(passbook, consent, email, { credits });
  await app.open(back);
  const draw = async (from: string | URL = origin) =>
    pageOf(await press(pageOf(await app.open(new URL(from))), /Draw/));
  return { passbook, draw };
}

async function giveStarterCredits(email: string): Promise<void> {
  const body = new URLSearchParams({ email, redirect_to: "http://localhost:3000/" });
  const landed = await fetch(`${service.issuer}/signin/dev`, {
    method: "POST",
    body,
    redirect: "manual",
  });
  const token = new URL(landed.headers.get("Location") ?? "").searchParams.get("token") ?? "";
  const headers = { Authorization: `Bearer ${token}` };
  expect((await fetch(`${service.issuer}/api/wallet?app=draw`, { headers })).status).toBe(200);
}

/** Pays the checkout that the browser was sent to, as Stripe reports it. */
async function pay(checkout: URL): Promise<URL> {
  const id = checkout.pathname.split("/").at(-1) ?? "";
  const body = JSON.stringify(stripe.stripe.completes(id));
  const headers = { "Stripe-Signature": await sign(body, Date.now()) };
  const told = await fetch(`${service.issuer}/webhooks/stripe`, { method: "POST", headers, body });
  expect(told.status).toBe(200);
  const { success_url = "" } = stripe.stripe.sessions.get(id) ?? {};
  return new URL(success_url.replace("{CHECKOUT_SESSION_ID}", id));
}

describe("a wallet in five minutes", () => {
  it("the code of the guide is the code of the example", () => {
    const [, section = ""] =
      /^## Connect a wallet in five minutes\n([^]*?)^## /m.exec(
        readFileSync("docs/oauth.md", "utf8"),
      ) ?? [];
    const blocks = [...section.matchAll(/^ *```js\n([^]*?)^ *```/gm)].map(([, code = ""]) => code);
    const plain = (code: string) => code.replaceAll(/\s+/g, " ").trim();
    const example = plain(readFileSync("examples/oauth/app.mjs", "utf8"));
    expect(blocks).toHaveLength(4);
    for (const block of blocks) expect(example).toContain(plain(block));
  });

  it(
    "a person whose limit is used up allows one more job and is back in the app",
    SLOW,
    async () => {
      await giveStarterCredits("dora@example.com");
      const { passbook, draw } = await connect("dora@example.com", "15");
      expect((await draw()).html).toContain("Here is a lighthouse; you have 92 credits.");
      const way = linkOf(await draw(), /Continue at Passbook/);
      expect(way.pathname).toMatch(/^\/approve\//);
      const asked = pageOf(await passbook.open(way));
      const [form] = asked.forms.filter(({ action }) => action.pathname.endsWith("/approve"));
      if (form === undefined) throw new Error(asked.html);
      const back = leftTo(await passbook.submit(form, {}, /^Approve/));
      expect(back.href).toBe(`${origin}/?result=approved`);
      expect((await draw(back)).html).toContain("you have 84 credits.");
    },
  );

  it("a person without credits buys some and is back in the app", SLOW, async () => {
    const { passbook, draw } = await connect("eli@example.com", "50");
    const way = linkOf(await draw(), /Continue at Passbook/);
    expect(way.pathname).toBe("/account");
    const account = pageOf(await passbook.open(way));
    const [form] = account.forms.filter(({ buttons }) =>
      buttons.some(({ text }) => text.startsWith("Buy")),
    );
    if (form === undefined) throw new Error(account.html);
    const checkout = leftTo(await passbook.submit(form, {}, /^Buy/));
    const thanks = pageOf(await passbook.open(await pay(checkout)));
    const back = linkOf(thanks, /^Back to /);
    expect(back.href).toBe(`${origin}/?result=bought`);
    expect((await draw(back)).html).toContain("you have 92 credits.");
  });
});
