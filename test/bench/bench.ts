/**
 * `npm run bench`: what the usual requests cost beside a bare Hono Worker's answer. Both Workers run on
 * this machine in the same run and are asked by turns, so that what else the machine does falls on
 * both; only the ratios mean something elsewhere.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { developmentSettings } from "../../src/commands/development_settings.ts";
import { freePort, startLocalWorker, type LocalWorker } from "../../src/commands/local_worker.ts";

const ROUNDS = 9;
const REQUESTS_PER_ROUND = 300;
const CONCURRENCY = 8;

/** One kind of request; `ask` throws where the answer is not 200. */
interface Subject {
  readonly name: string;
  ask(index: number): Promise<void>;
}

interface Person {
  readonly bearer: string;
  readonly cookies: string;
}

async function expectOk(response: Response): Promise<string> {
  const text = await response.text();
  if (response.status !== 200)
    throw new Error(`${response.url} answered ${response.status}: ${text}`);
  return text;
}

async function signIn(url: string, email: string): Promise<Person> {
  const body = new URLSearchParams({ email, redirect_to: "http://localhost:3000/" });
  const landed = await fetch(`${url}/signin/dev`, { method: "POST", redirect: "manual", body });
  const token = new URL(landed.headers.get("Location") ?? "").searchParams.get("token") ?? "";
  const cookies = landed.headers.getSetCookie().map((cookie) => cookie.split(";")[0]);
  const person = { bearer: `Bearer ${token}`, cookies: cookies.join("; ") };
  const headers = { Authorization: person.bearer };
  await expectOk(await fetch(`${url}/api/wallet?app=bench`, { headers }));
  return person;
}

/** Creates a job and completes it: two requests, four rows in the account's object. */
async function runJob(url: string, person: Person): Promise<void> {
  const headers = { Authorization: person.bearer, "Content-Type": "application/json" };
  const post = async (path: string, body: object): Promise<string> =>
    expectOk(await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) }));
  const job = await post("/api/jobs", { app: "bench", action: "draw", cost_estimate: 1 });
  const { job_id } = JSON.parse(job) as { job_id: string };
  await post("/api/jobs/complete", { job_id, actual_cost: 0 });
}

function subjectsOf(bare_url: string, url: string, people: readonly Person[]): Subject[] {
  const [ada] = people;
  if (ada === undefined) throw new Error("the benchmark needs somebody signed in");
  const get = async (address: string, headers: Record<string, string>): Promise<void> =>
    void (await expectOk(await fetch(address, { headers })));
  const bearer = { Authorization: ada.bearer };
  return [
    { name: "bare Hono answer", ask: () => get(`${bare_url}/.well-known/jwks.json`, {}) },
    { name: "GET jwks.json", ask: () => get(`${url}/.well-known/jwks.json`, {}) },
    { name: "GET wallet, bearer", ask: () => get(`${url}/api/wallet`, bearer) },
    { name: "GET wallet, cookie", ask: () => get(`${url}/api/wallet`, { Cookie: ada.cookies }) },
    { name: "GET jobs, a page of 50", ask: () => get(`${url}/api/jobs`, bearer) },
    { name: "job created and completed, one account", ask: () => runJob(url, ada) },
    {
      name: `job created and completed, ${people.length} accounts`,
      ask: (index) => runJob(url, people[index % people.length] ?? ada),
    },
  ];
}

/** Milliseconds for each request of one round, as the caller sees a Worker that is kept busy. */
async function measureRound(subject: Subject): Promise<number> {
  const started_ms = performance.now();
  let next = 0;
  const ask = async (): Promise<void> => {
    while (next < REQUESTS_PER_ROUND) await subject.ask(next++);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, ask));
  return (performance.now() - started_ms) / REQUESTS_PER_ROUND;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

async function measure(subjects: readonly Subject[]): Promise<void> {
  const rounds = new Map<string, number[]>(subjects.map(({ name }) => [name, []]));
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const subject of subjects) {
      const each_ms = await measureRound(subject);
      // The first round warms up.
      if (round > 0) rounds.get(subject.name)?.push(each_ms);
    }
    process.stderr.write(round === 0 ? "warm " : `${round}/${ROUNDS} `);
  }
  process.stderr.write("\n");
  const bare_ms = median(rounds.get(subjects[0]?.name ?? "") ?? []);
  for (const [name, each_ms] of rounds) {
    const ratio = (median(each_ms) / bare_ms).toFixed(1);
    console.log(
      `${name.padEnd(44)} ${median(each_ms).toFixed(2).padStart(7)} ms ${ratio.padStart(6)}x`,
    );
  }
}

const folder = await mkdtemp(join(tmpdir(), "passbook-bench-"));
const workers: LocalWorker[] = [];
try {
  const env_file = join(folder, "settings");
  await writeFile(env_file, await developmentSettings(), { mode: 0o600 });
  const start = async (name: string, script?: string): Promise<string> => {
    const persist_to = join(folder, name);
    const options = { port: await freePort(), persist_to, env_file };
    const worker = await startLocalWorker(script === undefined ? options : { ...options, script });
    workers.push(worker);
    return worker.url;
  };
  const url = await start("passbook");
  const bare_url = await start("bare", "test/bench/bare_worker.ts");
  const people: Person[] = [];
  for (let index = 0; index < 16; index += 1) {
    people.push(await signIn(url, `person-${index}@example.com`));
  }
  await measure(subjectsOf(bare_url, url, people));
} finally {
  for (const worker of workers) await worker.stop();
  await rm(folder, { recursive: true, force: true });
}
