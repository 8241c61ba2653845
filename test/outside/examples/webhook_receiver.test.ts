/** Runs the receiver of docs/webhooks.md as it is written there. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Webhook } from "standardwebhooks";
import { expect, it } from "vitest";

const FOLDER = join(".wrangler", "webhook_receiver");
const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

interface Receiver {
  fetch(request: Request, env: object): Promise<Response>;
}

it("the receiver of docs/webhooks.md accepts a signed event once, and refuses another request", async () => {
  const blocks = readFileSync("docs/webhooks.md", "utf8").split("```js\n").slice(1);
  const code = blocks
    .map((block) => block.split("```")[0] ?? "")
    .find((it) => it.includes("fetch("));
  mkdirSync(FOLDER, { recursive: true });
  const file = resolve(FOLDER, "receiver.mjs");
  const stubs = "const sendMail = (...mail) => void globalThis.mails.push(mail);\n";
  const client = resolve("src/client/server.ts");
  writeFileSync(file, stubs + code?.replace('"passbook-client/server"', JSON.stringify(client)));
  const { default: receiver } = (await import(/* @vite-ignore */ file)) as { default: Receiver };
  const mails: unknown[] = [];
  Object.assign(globalThis, { mails });
  const known = new Map<string, string>();
  const handled = {
    get: async (id: string) => known.get(id) ?? null,
    put: async (id: string, value: string) => void known.set(id, value),
  };
  const data = {
    identity_id: "user_a",
    line: 17,
    credits: 18,
    held: 0,
    spendable: 18,
    threshold: 20,
  };
  const body = JSON.stringify({ type: "credits.low", timestamp: new Date().toISOString(), data });
  const at = new Date();
  const headers = {
    "webhook-id": "one",
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": new Webhook(SECRET).sign("one", at, body),
  };
  const send = async (text: string): Promise<number> => {
    const request = new Request("https://sketch.example.com/", {
      method: "POST",
      headers,
      body: text,
    });
    return (await receiver.fetch(request, { PASSBOOK_WEBHOOK_SECRET: SECRET, handled })).status;
  };
  expect([await send(body), await send(body), await send(`${body} `)]).toEqual([204, 204, 400]);
  expect(mails).toEqual([["user_a", 18]]);
});
