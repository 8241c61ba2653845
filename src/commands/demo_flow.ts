/** The typical flow of the spec over HTTP, each answer printed and checked. */
import { isDeepStrictEqual, styleText } from "node:util";

interface Step {
  readonly title: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
  /** What the answer must contain; more may be there. */
  readonly contains: object;
}

interface Answer {
  readonly status: number;
  readonly body: { readonly [name: string]: unknown };
}

/**
 * Walks the flow against the service at `url`.
 * @returns how many answers were not as expected.
 */
export async function walkTypicalFlow(url: string): Promise<number> {
  const walk = new Walk(url, await signIn(url));
  await receiveStarterCredits(walk);
  await settleBelowTheEstimate(walk);
  const failed_id = await failAJob(walk);
  const over_id = await settleAboveTheEstimate(walk);
  await readTheLists(walk, [over_id, failed_id]);
  return walk.mismatches;
}

/** Sends steps, prints them, and counts the answers that are not as expected. */
class Walk {
  mismatches = 0;
  readonly #url: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  async call(step: Step): Promise<Answer["body"]> {
    const answer = await send(this.#url, this.#token, step);
    const right = answer.status === step.status && contains(answer.body, step.contains);
    print(step, answer, right);
    if (!right) this.mismatches += 1;
    return answer.body;
  }

  check(rule: string, found: unknown, expected: unknown): void {
    if (isDeepStrictEqual(found, expected)) return;
    console.error(styleText("red", `  not so: ${rule} (${JSON.stringify(found)})\n`));
    this.mismatches += 1;
  }
}

async function receiveStarterCredits(walk: Walk): Promise<void> {
  await walk.call({
    title: "The wallet opens the account and grants the app's starter credits, once",
    ...get("/api/wallet?app=sketch"),
    status: 200,
    contains: { account: { plan: "free", credits: 100 }, app_grant: { granted: true } },
  });
  await walk.call({
    title: "Asked again, nothing is granted a second time",
    ...get("/api/wallet?app=sketch"),
    status: 200,
    contains: { account: { credits: 100 }, app_grant: { granted: false } },
  });
}

async function settleBelowTheEstimate(walk: Walk): Promise<void> {
  const request = {
    ...post("/api/jobs", {
      app: "sketch",
      action: "render",
      cost_estimate: 60,
      metadata: { description: "A lighthouse at dusk" },
    }),
    headers: { "Idempotency-Key": "render-1" },
  };
  const { job_id } = await walk.call({
    title: "A job reserves its estimate",
    ...request,
    status: 200,
    contains: { credits: 40 },
  });
  await walk.call({
    title: "Retried with its Idempotency-Key, it is the same job",
    ...request,
    status: 200,
    contains: { job_id, credits: 40 },
  });
  await walk.call({
    title: "A job that the balance does not cover is refused",
    ...post("/api/jobs", { app: "sketch", action: "film", cost_estimate: 41 }),
    status: 402,
    contains: { code: "insufficient_credits" },
  });
  const previewUrl = "https://sketch.example/lighthouse.png";
  const metadata = { description: "A lighthouse at dusk", previewUrl };
  await walk.call({
    title: "Completed for less than its estimate: the rest comes back",
    ...post("/api/jobs/complete", { job_id, actual_cost: 25, metadata: { previewUrl } }),
    status: 200,
    contains: {
      job: { status: "completed", reserved: 60, actual_cost: 25, metadata },
      credits: 75,
    },
  });
}

async function failAJob(walk: Walk): Promise<unknown> {
  const { job_id } = await walk.call({
    title: "Another job …",
    ...post("/api/jobs", { app: "sketch", action: "render", cost_estimate: 75 }),
    status: 200,
    contains: { credits: 0 },
  });
  await walk.call({
    title: "… fails, and its reserve is refunded",
    ...post("/api/jobs/fail", { job_id }),
    status: 200,
    contains: { job: { status: "failed", actual_cost: 0 }, credits: 75 },
  });
  await walk.call({
    title: "A job ends once",
    ...post("/api/jobs/complete", { job_id, actual_cost: 1 }),
    status: 400,
    contains: { code: "job_not_started" },
  });
  return job_id;
}

async function settleAboveTheEstimate(walk: Walk): Promise<unknown> {
  const { job_id } = await walk.call({
    title: "A third job …",
    ...post("/api/jobs", { app: "sketch", action: "upscale", cost_estimate: 70 }),
    status: 200,
    contains: { credits: 5 },
  });
  await walk.call({
    title: "… costs more than its estimate: the overage is charged, below zero if need be",
    ...post("/api/jobs/complete", { job_id, actual_cost: 90 }),
    status: 200,
    contains: { job: { status: "completed", actual_cost: 90 }, credits: -15 },
  });
  await walk.call({
    title: "Until the balance is back, not even a free job starts",
    ...post("/api/jobs", { app: "sketch", action: "peek", cost_estimate: 0 }),
    status: 402,
    contains: { code: "insufficient_credits" },
  });
  return job_id;
}

async function readTheLists(walk: Walk, newest_ids: readonly unknown[]): Promise<void> {
  const { jobs } = await walk.call({
    title: "The jobs, newest first",
    ...get("/api/jobs?app=sketch&limit=2"),
    status: 200,
    contains: {},
  });
  walk.check("the list has the two newest jobs", idsOf(jobs), newest_ids);
  const { entries } = await walk.call({
    title: "The passbook: every change of the balance, newest first",
    ...get("/api/ledger"),
    status: 200,
    contains: {},
  });
  const sum = amountsOf(entries).reduce((total, amount) => total + amount, 0);
  walk.check("the entries add up to the balance", sum, -15);
}

function get(path: string): Pick<Step, "method" | "path"> {
  return { method: "GET", path };
}

function post(path: string, body: object): Pick<Step, "method" | "path" | "body"> {
  return { method: "POST", path, body };
}

async function signIn(url: string): Promise<string> {
  console.log(styleText("bold", "A local user signs in, and comes back with a token"));
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
    throw new Error(`signing in answered ${response.status}: ${await response.text()}`);
  }
  console.log("  POST /signin/dev  email=ada@example.com");
  console.log(`  303 → ${location.replace(token, `${token.slice(0, 12)}…`)}\n`);
  return token;
}

async function send(url: string, token: string, step: Step): Promise<Answer> {
  const response = await fetch(`${url}${step.path}`, {
    method: step.method,
    headers: {
      Authorization: `Bearer ${token}`,
      ...(step.body === undefined ? {} : { "Content-Type": "application/json" }),
      ...step.headers,
    },
    ...(step.body === undefined ? {} : { body: JSON.stringify(step.body) }),
  });
  return { status: response.status, body: (await response.json()) as Answer["body"] };
}

function print(step: Step, answer: Answer, right: boolean): void {
  console.log(styleText("bold", step.title));
  const sent = step.body === undefined ? "" : `  ${JSON.stringify(step.body)}`;
  console.log(`  ${step.method} ${step.path}${sent}`);
  const lines = JSON.stringify(answer.body, null, 2).split("\n");
  console.log(`  ${answer.status} ${lines.join("\n      ")}`);
  if (!right) {
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
