/** The typical flow of the spec over HTTP. Prints and checks each response. */
import { isDeepStrictEqual, styleText } from "node:util";

interface Step {
  readonly title: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
  /** Fields that the response must contain; it may have more. */
  readonly contains: object;
}

interface StepResponse {
  readonly status: number;
  readonly body: { readonly [name: string]: unknown };
}

/**
 * Runs the flow against the service at `url`.
 * @returns the number of responses that were not as expected
 */
export async function runTypicalFlow(url: string): Promise<number> {
  const flow = new Flow(url, await signIn(url));
  await receiveStarterCredits(flow);
  await settleBelowTheEstimate(flow);
  const failed_id = await failAJob(flow);
  const over_id = await settleAboveTheEstimate(flow);
  await readTheLists(flow, [over_id, failed_id]);
  return flow.mismatches;
}

/** Sends requests, prints them, and counts responses that are not as expected. */
class Flow {
  mismatches = 0;
  readonly #url: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  async call(step: Step): Promise<StepResponse["body"]> {
    const response = await send(this.#url, this.#token, step);
    const is_expected = response.status === step.status && contains(response.body, step.contains);
    print(step, response, is_expected);
    if (!is_expected) this.mismatches += 1;
    return response.body;
  }

  check(rule: string, found: unknown, expected: unknown): void {
    if (isDeepStrictEqual(found, expected)) return;
    console.error(styleText("red", `  wrong: ${rule} (${JSON.stringify(found)})\n`));
    this.mismatches += 1;
  }
}

async function receiveStarterCredits(flow: Flow): Promise<void> {
  await flow.call({
    title: "The wallet opens the account and grants the app's starter credits, once",
    ...get("/api/wallet?app=sketch"),
    status: 200,
    contains: { account: { plan: "free", credits: 100 }, app_grant: { granted: true } },
  });
  await flow.call({
    title: "A second request grants nothing",
    ...get("/api/wallet?app=sketch"),
    status: 200,
    contains: { account: { credits: 100 }, app_grant: { granted: false } },
  });
}

async function settleBelowTheEstimate(flow: Flow): Promise<void> {
  const request = {
    ...post("/api/jobs", {
      app: "sketch",
      action: "render",
      cost_estimate: 60,
      metadata: { description: "A lighthouse at dusk" },
    }),
    headers: { "Idempotency-Key": "render-1" },
  };
  const { job_id } = await flow.call({
    title: "A job reserves its estimate",
    ...request,
    status: 200,
    contains: { credits: 40 },
  });
  await flow.call({
    title: "A retry with the same Idempotency-Key returns the same job",
    ...request,
    status: 200,
    contains: { job_id, credits: 40 },
  });
  await flow.call({
    title: "A job that the balance does not cover is refused",
    ...post("/api/jobs", { app: "sketch", action: "film", cost_estimate: 41 }),
    status: 402,
    contains: { code: "insufficient_credits" },
  });
  const previewUrl = "https://sketch.example/lighthouse.png";
  const metadata = { description: "A lighthouse at dusk", previewUrl };
  await flow.call({
    title: "It costs less than its estimate: the rest is refunded",
    ...post("/api/jobs/complete", { job_id, actual_cost: 25, metadata: { previewUrl } }),
    status: 200,
    contains: {
      job: { status: "completed", reserved: 60, actual_cost: 25, metadata },
      credits: 75,
    },
  });
}

async function failAJob(flow: Flow): Promise<unknown> {
  const { job_id } = await flow.call({
    title: "Another job …",
    ...post("/api/jobs", { app: "sketch", action: "render", cost_estimate: 75 }),
    status: 200,
    contains: { credits: 0 },
  });
  await flow.call({
    title: "… fails, and its reserve is refunded",
    ...post("/api/jobs/fail", { job_id }),
    status: 200,
    contains: { job: { status: "failed", actual_cost: 0 }, credits: 75 },
  });
  await flow.call({
    title: "A job that has ended cannot be completed",
    ...post("/api/jobs/complete", { job_id, actual_cost: 1 }),
    status: 400,
    contains: { code: "job_ended" },
  });
  return job_id;
}

async function settleAboveTheEstimate(flow: Flow): Promise<unknown> {
  const { job_id } = await flow.call({
    title: "A third job …",
    ...post("/api/jobs", { app: "sketch", action: "upscale", cost_estimate: 70 }),
    status: 200,
    contains: { credits: 5 },
  });
  await flow.call({
    title: "… costs more than its estimate: the overage is charged, even below zero",
    ...post("/api/jobs/complete", { job_id, actual_cost: 90 }),
    status: 200,
    contains: { job: { status: "completed", actual_cost: 90 }, credits: -15 },
  });
  await flow.call({
    title: "With a negative balance, not even a free job starts",
    ...post("/api/jobs", { app: "sketch", action: "peek", cost_estimate: 0 }),
    status: 402,
    contains: { code: "insufficient_credits" },
  });
  return job_id;
}

async function readTheLists(flow: Flow, newest_ids: readonly unknown[]): Promise<void> {
  const { jobs } = await flow.call({
    title: "The jobs, newest first",
    ...get("/api/jobs?app=sketch&limit=2"),
    status: 200,
    contains: {},
  });
  flow.check("the list has the two newest jobs", idsOf(jobs), newest_ids);
  const { entries } = await flow.call({
    title: "The ledger: every change of the balance, newest first",
    ...get("/api/ledger"),
    status: 200,
    contains: {},
  });
  const sum = amountsOf(entries).reduce((total, amount) => total + amount, 0);
  flow.check("the entries add up to the balance", sum, -15);
}

function get(path: string): Pick<Step, "method" | "path"> {
  return { method: "GET", path };
}

function post(path: string, body: object): Pick<Step, "method" | "path" | "body"> {
  return { method: "POST", path, body };
}

async function signIn(url: string): Promise<string> {
  console.log(styleText("bold", "A local user signs in, and returns with a token"));
  const response = await fetch(`${url}/signin/dev`, {
    method: "POST",
    redirect: "manual",
    body: new URLSearchParams({
      email: "ada@example.com",
      redirect_to: "http://localhost:3000/welcome",
    }),
  });
  const location = response.headers.get("Location") ?? "";
  const token = URL.parse(location)?.searchParams.get("token") ?? "";
  if (response.status !== 303 || token === "") {
    throw new Error(`Signing in returned ${response.status}: ${await response.text()}`);
  }
  console.log("  POST /signin/dev  email=ada@example.com");
  console.log(`  303 → ${location.replace(token, `${token.slice(0, 12)}…`)}\n`);
  return token;
}

async function send(url: string, token: string, step: Step): Promise<StepResponse> {
  const response = await fetch(`${url}${step.path}`, {
    method: step.method,
    headers: {
      Authorization: `Bearer ${token}`,
      ...(step.body === undefined ? {} : { "Content-Type": "application/json" }),
      ...step.headers,
    },
    ...(step.body === undefined ? {} : { body: JSON.stringify(step.body) }),
  });
  return { status: response.status, body: (await response.json()) as StepResponse["body"] };
}

function print(step: Step, response: StepResponse, is_expected: boolean): void {
  console.log(styleText("bold", step.title));
  const sent = step.body === undefined ? "" : `  ${JSON.stringify(step.body)}`;
  console.log(`  ${step.method} ${step.path}${sent}`);
  const lines = JSON.stringify(response.body, null, 2).split("\n");
  console.log(`  ${response.status} ${lines.join("\n      ")}`);
  if (!is_expected) {
    console.error(styleText("red", `  expected ${step.status} ${JSON.stringify(step.contains)}`));
  }
  console.log();
}

/** Whether every field of `expected` is in `found` with that value, objects compared in depth. */
function contains(found: unknown, expected: unknown): boolean {
  if (typeof expected !== "object" || expected === null) return found === expected;
  if (typeof found !== "object" || found === null) return false;
  const fields = found as Readonly<Record<string, unknown>>;
  return Object.entries(expected).every(([name, value]) => contains(fields[name], value));
}

function idsOf(jobs: unknown): unknown[] {
  return Array.isArray(jobs) ? jobs.map((job: { id?: unknown }) => job.id) : [];
}

function amountsOf(entries: unknown): number[] {
  return Array.isArray(entries) ? entries.map((entry: { amount: number }) => entry.amount) : [];
}
