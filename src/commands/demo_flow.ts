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
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * Walks the flow against the service at `url`.
 * @returns how many answers were not as expected.
 */
export async function walkTypicalFlow(url: string): Promise<number> {
  let mismatches = 0;
  const token = await signIn(url);
  const call = async (step: Step): Promise<Answer> => {
    const answer = await send(url, token, step);
    const right = answer.status === step.status && contains(answer.body, step.contains);
    print(step, answer, right);
    if (!right) mismatches += 1;
    return answer;
  };

  await call({
    title: "The wallet opens the account and grants the app's starter credits, once",
    ...get("/api/wallet?app=sketch"),
    status: 200,
    contains: { account: { plan: "free", credits: 100 }, app_grant: { granted: true } },
  });
  await call({
    title: "Asked again, nothing is granted a second time",
    ...get("/api/wallet?app=sketch"),
    status: 200,
    contains: { account: { credits: 100 }, app_grant: { granted: false } },
  });

  const render = await call({
    title: "A job reserves its estimate",
    ...post("/api/jobs", {
      app: "sketch",
      action: "render",
      cost_estimate: 60,
      metadata: { description: "A lighthouse at dusk" },
    }),
    headers: { "Idempotency-Key": "render-1" },
    status: 200,
    contains: { credits: 40 },
  });
  await call({
    title: "Retried with its Idempotency-Key, it is the same job",
    ...post("/api/jobs", {
      app: "sketch",
      action: "render",
      cost_estimate: 60,
      metadata: { description: "A lighthouse at dusk" },
    }),
    headers: { "Idempotency-Key": "render-1" },
    status: 200,
    contains: { job_id: render.body["job_id"], credits: 40 },
  });
  await call({
    title: "A job that the balance does not cover is refused",
    ...post("/api/jobs", { app: "sketch", action: "film", cost_estimate: 41 }),
    status: 402,
    contains: { code: "insufficient_credits" },
  });
  await call({
    title: "Completed for less than its estimate: the rest comes back",
    ...post("/api/jobs/complete", {
      job_id: render.body["job_id"],
      actual_cost: 25,
      metadata: { previewUrl: "https://sketch.example/lighthouse.png" },
    }),
    status: 200,
    contains: {
      job: {
        status: "completed",
        reserved: 60,
        actual_cost: 25,
        metadata: {
          description: "A lighthouse at dusk",
          previewUrl: "https://sketch.example/lighthouse.png",
        },
      },
      credits: 75,
    },
  });

  const broken = await call({
    title: "Another job …",
    ...post("/api/jobs", { app: "sketch", action: "render", cost_estimate: 75 }),
    status: 200,
    contains: { credits: 0 },
  });
  await call({
    title: "… fails, and its reserve is refunded",
    ...post("/api/jobs/fail", { job_id: broken.body["job_id"] }),
    status: 200,
    contains: { job: { status: "failed", actual_cost: 0 }, credits: 75 },
  });
  await call({
    title: "A job ends once",
    ...post("/api/jobs/complete", { job_id: broken.body["job_id"], actual_cost: 1 }),
    status: 400,
    contains: { code: "job_not_started" },
  });

  const long = await call({
    title: "A third job …",
    ...post("/api/jobs", { app: "sketch", action: "upscale", cost_estimate: 70 }),
    status: 200,
    contains: { credits: 5 },
  });
  await call({
    title: "… costs more than its estimate: the overage is charged, below zero if need be",
    ...post("/api/jobs/complete", { job_id: long.body["job_id"], actual_cost: 90 }),
    status: 200,
    contains: { job: { status: "completed", actual_cost: 90 }, credits: -15 },
  });
  await call({
    title: "Until the balance is back, not even a free job starts",
    ...post("/api/jobs", { app: "sketch", action: "peek", cost_estimate: 0 }),
    status: 402,
    contains: { code: "insufficient_credits" },
  });

  const list = await call({
    title: "The jobs, newest first",
    ...get("/api/jobs?app=sketch&limit=2"),
    status: 200,
    contains: {},
  });
  mismatches += check("the list has the two newest jobs", idsOf(list.body["jobs"]), [
    long.body["job_id"],
    broken.body["job_id"],
  ]);
  const ledger = await call({
    title: "The passbook: every change of the balance, newest first",
    ...get("/api/ledger"),
    status: 200,
    contains: {},
  });
  const amounts = amountsOf(ledger.body["entries"]);
  mismatches += check(
    "the entries add up to the balance",
    amounts.reduce((sum, amount) => sum + amount, 0),
    -15,
  );
  return mismatches;
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

function check(rule: string, found: unknown, expected: unknown): number {
  if (isDeepStrictEqual(found, expected)) return 0;
  console.error(styleText("red", `  not so: ${rule} (${JSON.stringify(found)})\n`));
  return 1;
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
