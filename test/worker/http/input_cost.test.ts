/**
 * What a request costs whose body, query or header was made to be expensive, relative to an ordinary one of the same size.
 * Compares medians of interleaved samples of one process, so a busy machine slows both sides.
 */
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { expect, it, vi } from "vitest";
import { RATE_LIMIT_RULES } from "../../../src/domain/rate_limits.ts";
import worker from "../../../src/worker.ts";
import { BASE_URL, environmentWith, signInWithCredits } from "../support/passbook.ts";
import { SELLING } from "../payments/till.ts";

/** An expensive request may cost this many times as much as an ordinary one. */
const RATIO_MAX = 5;
/** The clock counts milliseconds, so a sample is many requests; a cheaper one counts as this. */
const SAMPLE_MIN_MS = 8;
const REQUESTS_PER_SAMPLE = 4;
const SAMPLES = 5;

const BODY_BYTES = 60_000;
/** The platform accepts no longer address, and no longer header. */
const HEADER_BYTES = 16_000;

interface Sent {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Row {
  readonly endpoint: string;
  readonly ordinary: Sent;
  readonly worst: Readonly<Record<string, Sent>>;
}

/** As many parts as fit into a number of bytes. */
function filled(bytes: number, part: (index: number) => string, separator: string): string {
  const parts: string[] = [];
  for (let length = 0; length < bytes - 20; length += parts.at(-1)!.length + separator.length) {
    parts.push(part(parts.length));
  }
  return parts.join(separator);
}

/** Distinct names of three or four letters. */
const name = (index: number) => (index + 36 ** 2).toString(36);
/** Distinct names that differ from a known one in two letters. */
const near = (known: string) => (index: number) =>
  `${known.slice(0, -2)}${((index % 1_296) + 1_296).toString(36).slice(1)}${index < 1_296 ? "" : name(index)}`;

const FORM = { "Content-Type": "application/x-www-form-urlencoded" };
const OWN_FORM = { ...FORM, Origin: BASE_URL };
const JSON_BODY = { "Content-Type": "application/json" };

const form = (bytes: number, part: (index: number) => string) => filled(bytes, part, "&");
const object = (part: (index: number) => string) => `{${filled(BODY_BYTES, part, ",")}}`;
const list = (item: string) => `[${filled(BODY_BYTES, () => item, ",")}]`;

const FORMS = (headers: Readonly<Record<string, string>>, known: string) => ({
  "many names": { headers, body: form(BODY_BYTES, (i) => `${name(i)}=`) },
  "one name many times": { headers, body: form(BODY_BYTES, () => "a") },
  "many names near a known one": { headers, body: form(BODY_BYTES, (i) => `${near(known)(i)}=`) },
  "many separators": { headers, body: "&".repeat(BODY_BYTES) },
  "many percent signs": { headers, body: `${known}=${"%41".repeat(BODY_BYTES / 3)}` },
});

const OBJECTS = (known: string, list_field: string) => ({
  "many names": { body: object((i) => `"${name(i)}":1`) },
  "many names near a known one": { body: object((i) => `"${near(known)(i)}":1`) },
  "a long list of wrong items": { body: `{"${list_field}":${list("1")}}` },
  "a long list of empty objects": { body: `{"${list_field}":${list("{}")}}` },
  "a long list of lists": { body: `{"${list_field}":${list("[]")}}` },
  "deep lists": { body: `{"${list_field}":${"[".repeat(30_000)}${"]".repeat(30_000)}}` },
  "deep objects": {
    body: `{"${list_field}":${'{"a":'.repeat(9_000)}1${"}".repeat(9_000)}}`,
  },
  "many escapes": { body: `{"${known}":"${"\\u0041".repeat(9_900)}"}` },
});

const QUERIES = (path: string, known: string) => ({
  "many names": { path: `${path}?${form(HEADER_BYTES, (i) => name(i))}` },
  "one name many times": { path: `${path}?${form(HEADER_BYTES, () => known)}` },
  "many names near a known one": { path: `${path}?${form(HEADER_BYTES, near(known))}` },
});

const job = { app: "demo", action: "draw", cost_estimate: 1 };
const metadata = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [name(i), "a value"]));
/** JSON as a program may send it: many small objects with their own keys. */
const items = Array.from({ length: 1_200 }, (_, i) => ({
  id: i,
  [name(i)]: "a value",
  size: [i, 1],
}));

const oauth = (path: string): Row => ({
  endpoint: `POST ${path}`,
  ordinary: { headers: FORM, body: `token=${"x".repeat(BODY_BYTES)}` },
  worst: FORMS(FORM, "grant_type"),
});

const query = (method_and_path: string, known: string, value: string): Row => {
  const [, path = ""] = method_and_path.split(" ");
  return {
    endpoint: method_and_path,
    ordinary: { path: `${path}?${known}=${value}` },
    worst: QUERIES(path, known),
  };
};

const ROWS: readonly Row[] = [
  oauth("/oauth/token"),
  oauth("/oauth/revoke"),
  oauth("/oauth/introspect"),
  oauth("/oauth/userinfo"),
  {
    endpoint: "POST /oauth/token",
    ordinary: { headers: FORM, body: exchange("[{}]".padEnd(BODY_BYTES - 300)) },
    worst: Object.fromEntries(
      Object.entries({ "wrong items": list("1"), "empty objects": list("{}") }).map(
        ([what, details]) => [what, { headers: FORM, body: exchange(details) }],
      ),
    ),
  },
  {
    endpoint: "POST /signout",
    ordinary: { headers: OWN_FORM, body: `redirect_to=${"x".repeat(BODY_BYTES)}` },
    worst: FORMS(OWN_FORM, "redirect_to"),
  },
  {
    endpoint: "POST /oauth/authorize",
    ordinary: { headers: FORM, body: `state=${"x".repeat(BODY_BYTES)}` },
    worst: FORMS(FORM, "state"),
  },
  {
    endpoint: "POST /signin/dev",
    ordinary: { headers: OWN_FORM, body: `email=${"x".repeat(BODY_BYTES)}` },
    worst: FORMS(OWN_FORM, "redirect_to"),
  },
  {
    endpoint: "POST /signin/passkey/register",
    ordinary: { headers: OWN_FORM, body: `name=${"x".repeat(BODY_BYTES)}` },
    worst: FORMS(OWN_FORM, "name"),
  },
  query("GET /oauth/authorize", "client_id", "x".repeat(HEADER_BYTES)),
  query("GET /signin", "notice", "x".repeat(HEADER_BYTES)),
  query("GET /api/device/poll", "device_code", "x".repeat(HEADER_BYTES)),
  query("GET /api/jobs", "status", "x".repeat(HEADER_BYTES)),
  {
    endpoint: "POST /api/device/start",
    ordinary: { headers: JSON_BODY, body: JSON.stringify({ client_name: "x", items }) },
    worst: OBJECTS("client_name", "client_name"),
  },
  {
    endpoint: "POST /webhooks/stripe",
    ordinary: { headers: { "Stripe-Signature": `t=1,v1=${"0".repeat(HEADER_BYTES)}` }, body: "{}" },
    worst: {
      "many signatures": {
        headers: {
          "Stripe-Signature": `t=${Math.floor(Date.now() / 1000)},${filled(HEADER_BYTES, () => `v1=${"0".repeat(64)}`, ",")}`,
        },
        body: "x".repeat(BODY_BYTES),
      },
      "many parts": { headers: { "Stripe-Signature": ",".repeat(HEADER_BYTES) }, body: "{}" },
    },
  },
  {
    endpoint: "GET /account",
    ordinary: { headers: { Cookie: `a=${"x".repeat(HEADER_BYTES)}` } },
    worst: {
      "many cookies": { headers: { Cookie: filled(HEADER_BYTES, (i) => `${name(i)}=`, ";") } },
      "many separators": { headers: { Cookie: ";".repeat(HEADER_BYTES) } },
      "many session cookies": {
        headers: { Cookie: filled(HEADER_BYTES, () => "passbook_session=x", "; ") },
      },
    },
  },
  {
    endpoint: "GET /api/me",
    ordinary: { headers: { Authorization: `Bearer ${"x".repeat(HEADER_BYTES)}` } },
    worst: {
      "many spaces": { headers: { Authorization: `Bearer a${" ".repeat(HEADER_BYTES)}a` } },
      "many equals signs": { headers: { Authorization: `Bearer a${"=".repeat(HEADER_BYTES)}!` } },
      "many dots": { headers: { Authorization: `Bearer ${".".repeat(HEADER_BYTES)}` } },
    },
  },
  {
    endpoint: "POST /api/jobs",
    ordinary: { body: JSON.stringify({ ...job, metadata: { items } }) },
    worst: {
      ...OBJECTS("cost_estimate", "metadata"),
      "metadata with many names": {
        body: JSON.stringify({
          ...job,
          metadata: Object.fromEntries(Array.from({ length: 6_000 }, (_, i) => [name(i), 1])),
        }),
      },
    },
  },
  {
    endpoint: "POST /api/jobs/complete",
    ordinary: { body: JSON.stringify({ job_id: "x", actual_cost: 1, metadata: { items } }) },
    worst: OBJECTS("actual_cost", "metadata"),
  },
  {
    endpoint: "POST /api/jobs/batch",
    ordinary: {
      body: JSON.stringify({ jobs: Array.from({ length: 100 }, () => ({ ...job, metadata })) }),
    },
    worst: {
      ...OBJECTS("jobs", "jobs"),
      "many names near a known one in each job": {
        body: JSON.stringify({
          jobs: Array.from({ length: 100 }, (_, row) =>
            Object.fromEntries(
              Array.from({ length: 30 }, (__, i) => [near("cost_estimate")(row * 30 + i), 1]),
            ),
          ),
        }),
      },
    },
  },
];

function exchange(authorization_details: string): string {
  return new URLSearchParams({
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    subject_token: "x",
    subject_token_type: "urn:ietf:params:oauth:token-type:access_token",
    authorization_details,
  }).toString();
}

/** No limiter refuses a request, so that each is read. */
const UNLIMITED = {
  ...SELLING,
  SIGNIN_METHODS: "passkey, providers",
  ...Object.fromEntries(
    RATE_LIMIT_RULES.map(({ binding }) => [binding, { limit: async () => ({ success: true }) }]),
  ),
};

it.each(ROWS.map((row) => [row.endpoint, row] as const))(
  "no request to %s costs more than five times as much as an ordinary one of its size",
  { retry: 2 },
  async (endpoint, { ordinary, worst }) => {
    vi.spyOn(console, "log").mockReturnValue();
    vi.spyOn(console, "error").mockReturnValue();
    const ada = await signInWithCredits();
    const environment = environmentWith(UNLIMITED);
    const [method, path = ""] = endpoint.split(" ");
    const authorization = path.startsWith("/api/jobs")
      ? { Authorization: `Bearer ${ada.token}` }
      : {};
    const measure = async (sent: Sent): Promise<number> => {
      const started_at_ms = performance.now();
      for (let i = 0; i < REQUESTS_PER_SAMPLE; i += 1) {
        const context = createExecutionContext();
        const headers = { ...JSON_BODY, ...authorization, ...sent.headers };
        const init = method === "POST" ? { method, headers, body: sent.body ?? "" } : { headers };
        const request = new Request(`${BASE_URL}${sent.path ?? path}`, {
          ...init,
          redirect: "manual",
        });
        const response = await worker.fetch(request, environment, context);
        await response.text();
        expect(response.status).toBeLessThan(500);
        expect(response.status).not.toBe(429);
        await waitOnExecutionContext(context);
      }
      return Math.max(SAMPLE_MIN_MS, performance.now() - started_at_ms);
    };
    const inputs = [ordinary, ...Object.values(worst)];
    for (const sent of inputs) await measure(sent);
    const samples: number[][] = inputs.map(() => []);
    for (let round = 0; round < SAMPLES; round += 1) {
      for (const [index, sent] of inputs.entries()) samples[index]?.push(await measure(sent));
    }
    const [base = 1, ...costs] = samples.map(
      (row) => row.toSorted((a, b) => a - b)[SAMPLES >> 1] ?? 0,
    );
    const ratios = Object.keys(worst).map(
      (what, index) => [what, (costs[index] ?? 0) / base] as const,
    );
    console.warn(
      endpoint,
      base,
      JSON.stringify(ratios.map(([w, r]) => [w, Math.round(r * 10) / 10])),
    );
    expect(ratios.filter(([, ratio]) => ratio > RATIO_MAX)).toEqual([]);
  },
);
