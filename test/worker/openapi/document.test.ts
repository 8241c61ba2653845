import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type * as z from "zod";
import document from "../../../docs/openapi.json";
import { openApiDocument } from "../../../src/http/openapi/document.ts";
import type * as schemas from "../../../src/http/openapi/schemas.ts";
import type { entryView, jobView, settledView } from "../../../src/http/views.ts";
import { approve, fromOwnPage } from "../support/device_logins.ts";
import { awaitToken, startDevice } from "../support/device_client.ts";
import { BASE_URL, send, signIn, signInWithCredits } from "../support/passbook.ts";
import { check, expectDocumented, paths } from "../support/conformance.ts";
import { generatedRequests, type Caller } from "./generated.ts";

/** The views and the schemas of the document must agree: this does not compile otherwise. */
type Fits<One, Other> = [One] extends [Other] ? ([Other] extends [One] ? true : never) : never;
type Schemas = typeof schemas;
type Of<Name extends keyof Schemas> = Schemas[Name] extends z.ZodType
  ? z.output<Schemas[Name]>
  : never;
const agreed: readonly true[] = [
  true satisfies Fits<
    Omit<Of<"job">, "metadata" | "from">,
    Omit<ReturnType<typeof jobView>, "metadata" | "from">
  >,
  true satisfies Fits<Of<"entry">["kind"], ReturnType<typeof entryView>["kind"]>,
  true satisfies Fits<keyof Of<"entry">, keyof ReturnType<typeof entryView>>,
  true satisfies Fits<keyof Of<"settled_job">, keyof ReturnType<typeof settledView>>,
];

describe("the OpenAPI document", () => {
  it("docs/openapi.json is up to date with the schemas", () => {
    expect(document).toEqual(JSON.parse(JSON.stringify(openApiDocument())));
    expect(document.openapi).toBe("3.1.0");
    expect(agreed.every(Boolean)).toBe(true);
  });

  it("every request and response has an example that matches its schema", () => {
    for (const [path, item] of Object.entries(paths)) {
      for (const operation of Object.values(item)) {
        const bodies = Object.values(operation.requestBody?.content ?? {});
        for (const response of Object.values(operation.responses)) {
          if ("content" in response) bodies.push(...Object.values(response.content ?? {}));
        }
        for (const { schema, example } of bodies) {
          if (example !== undefined) check(schema, example, `${path} ${operation.operationId}`);
        }
        const json = operation.requestBody?.content["application/json"];
        expect(json === undefined || json.example !== undefined).toBe(true);
      }
    }
  });

  it("the document has a contact, a license, servers and all tags", () => {
    const { contact, license } = document.info;
    expect([contact.name, license.name, document.servers[0]?.url]).toEqual([
      expect.stringMatching(/./),
      "MIT",
      "/",
    ]);
    const used = Object.values(paths).flatMap((item) =>
      Object.values(item).flatMap(({ tags }) => tags),
    );
    expect(new Set(used)).toEqual(new Set(document.tags.map(({ name }) => name)));
    for (const { description } of document.tags) expect(description).not.toBe("");
  });

  it("every operation has a summary, a description and its errors", () => {
    for (const [path, item] of Object.entries(paths)) {
      for (const { summary, description, responses } of Object.values(item)) {
        const words = [summary, description].every((text) => text !== undefined && text !== "");
        expect(words, path).toBe(true);
        const codes = Object.keys(responses);
        expect(codes.some((code) => code.startsWith("2") || code.startsWith("3"))).toBe(true);
        expect(codes.some((code) => code.startsWith("4"))).toBe(true);
      }
    }
  });

  it("the document has no pattern that needs a flag and no unused component", () => {
    const text = JSON.stringify(document);
    expect(text).not.toContain("\\\\p{");
    for (const [kind, components] of Object.entries(document.components)) {
      if (kind === "securitySchemes") continue;
      for (const name of Object.keys(components)) {
        expect(text).toContain(`"#/components/${kind}/${name}"`);
      }
    }
  });

  it("every operation has a unique id", () => {
    const ids = Object.values(paths).flatMap((item) =>
      Object.values(item).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each([
    [200, { token: 1 }, {}, /is not what the document says/],
    [200, { token: "t", more: 1 }, {}, /is not what the document says/],
    [201, { token: "t" }, {}, /is not in the document/],
    [202, { code: "slow_down", interval: 5 }, {}, /Retry-After is missing/],
    [410, { error: "", code: "scope" }, {}, /is not what the document says/],
    [200, { token: "t" }, { "Passbook-Request-Id": "" }, /Passbook-Request-Id is missing/],
    [200, { token: "t" }, { Location: "/" }, /location is not in the document/],
    [200, { token: "t" }, { "X-Powered-By": "us" }, /x-powered-by is not in the document/],
  ])("the response checker rejects %s %j with %j", (status, body, more, message) => {
    const usual = { "Content-Type": "application/json", "Passbook-Request-Id": "1" };
    const headers = new Headers({ ...usual, ...more });
    if (headers.get("Passbook-Request-Id") === "") headers.delete("Passbook-Request-Id");
    const answer = { status, body, headers, text: JSON.stringify(body) };
    const ask = () => expectDocumented("GET", `${BASE_URL}/api/device/poll`, answer);
    expect(ask).toThrow(message);
  });

  it("the response checker rejects an unknown endpoint", () => {
    const answer = { status: 200, body: {}, headers: new Headers(), text: "{}" };
    const ask = () => expectDocumented("GET", `${BASE_URL}/api/secret`, answer);
    expect(ask).toThrow(/does not know/);
  });
});

/** Enough to reach every part of every operation; `npm run fuzz` sends 10,000. */
const REQUESTS = Number(
  (env as { TEST_GENERATED_REQUESTS?: string }).TEST_GENERATED_REQUESTS ?? 1_000,
);

describe("requests made from the document", () => {
  it("requests generated from the document get no 5xx and only documented responses", async () => {
    const ada = await signInWithCredits();
    // Without rate limits, which would refuse most requests.
    const limiter = { limit: async () => ({ success: true }) };
    const settings = Object.fromEntries(
      Object.keys(env)
        .filter((name) => name.startsWith("LIMIT_"))
        .map((name) => [name, limiter]),
    );
    const operator = await signIn("root@example.com");
    Object.assign(settings, { OPERATORS: "root@example.com" });
    const as_operator = { headers: fromOwnPage(operator) };
    const bob = await signInWithCredits("demo", "bob@example.com");
    const write = (method: string, path: string, body: object) => {
      const headers = { ...as_operator.headers, "Content-Type": "application/json" };
      return send(method, path, { headers, body: JSON.stringify(body) }, settings);
    };
    const app = { name: "Demo", starter_credits: 100, origins: [], daily_starter_budget: null };
    expect((await write("PUT", "/api/admin/apps/demo", app)).status).toBe(200);
    const { key } = (await write("POST", "/api/admin/apps/demo/keys", { label: "fuzz" })).body;
    expect(key).toMatch(/^pb_app_/);
    const tokenOf = async (limits: object): Promise<string> => {
      const options = {
        base_url: BASE_URL,
        wait: async () => {},
        fetch: async (url: string, init: RequestInit) => {
          const answer = await send(init.method ?? "GET", url, init, settings);
          return new Response(answer.text, { status: answer.status });
        },
      };
      const started = await startDevice(options);
      await approve(ada, started.user_code, limits, settings);
      const outcome = await awaitToken(options, started);
      return outcome.kind === "token" ? outcome.token : "";
    };
    const proofs: Readonly<Record<Caller, Record<string, string>>> = {
      bearer: { Authorization: `Bearer ${ada.token}` },
      cookie: { Cookie: ada.cookies },
      token: { Authorization: `Bearer ${await tokenOf({})}` },
      limited: {
        Authorization: `Bearer ${await tokenOf({ apps: ["demo"], caps: [{ credits: 20 }] })}`,
      },
      operator: as_operator.headers,
      app: { Authorization: `Bearer ${key}`, "Passbook-Identity": ada.identity_id },
      nobody: {},
      forged: { Authorization: `Bearer ${ada.token}x` },
    };
    const job_ids: string[] = [];
    for (const cost_estimate of [1, 2, 3]) {
      const job = { app: "demo", action: "draw", cost_estimate };
      job_ids.push((await ada.post("/api/jobs", job)).body.job_id);
    }
    const { user_code, device_code } = (await send("POST", "/api/device/start")).body;
    const known = {
      job_ids,
      identity_ids: [bob.identity_id],
      user_codes: [user_code],
      device_codes: [device_code],
    };
    const seen = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(
        generatedRequests(known),
        async ({ method, path, caller, headers, body }) => {
          const init = { headers: { ...headers, ...proofs[caller] }, body };
          const { status } = await send(method, path, init, settings);
          const not_set_up = path.startsWith("/api/socialMe") && status === 502;
          // The check of a store has a time limit, which a busy machine exceeds.
          const is_late = path.startsWith("/readyz") && status === 503;
          if (status >= 500 && !not_set_up && !is_late)
            throw new Error(`${method} ${path} → ${status}`);
          const kind = `${method} ${path.split("?")[0]?.replace(/[0-9a-f-]{36}/, "{id}")} ${status}`;
          seen.set(kind, (seen.get(kind) ?? 0) + 1);
        },
      ),
      { numRuns: REQUESTS, endOnFailure: true },
    );
    // Enough requests pass authentication and validation. The number varies, because a request may end a session or a token.
    const succeeded = [...seen.keys()].filter((kind) => / 20\d$/.test(kind));
    expect(succeeded.length).toBeGreaterThan(10);
  }, 600_000);
});
