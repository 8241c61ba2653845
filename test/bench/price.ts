/**
 * `npm run price`: the cost of a million lives of jobs at Cloudflare's list prices (`prices.json`). Bindings and cursors of
 * the real runtime count what is billed, for Passbook and for a design with all data in D1. Storage and the included amounts
 * of a plan are left out. `--bytes` prints the size of rows instead.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { freePort } from "../../src/commands/local_worker.ts";
import { footprintTable, measureFootprint } from "./footprint.ts";
import {
  agedSegments,
  coldLives,
  hotLives,
  QUEUE_QUIET_MS,
  shareOf,
  untilQuiet,
  type Manner,
} from "./lives.ts";
import { deviceLogin, forEach, openWallet, readWallet, signIn, type Person } from "./people.ts";
import { bundleWorker, readWorkerConfig, startWorker, type WorkerConfig } from "./platform.ts";
import { archiveTable, costOf, priceTable, type Life, type PriceList } from "./pricing.ts";
import { writeQueueConfig } from "./queue_config.ts";
import { runSettings } from "./settings.ts";

/** The last runs, which docs/scale.md repeats. */
const RESULTS = "test/bench/results/price.md";
const BYTES_RESULTS = "test/bench/results/bytes.md";
const FOOTPRINT_ROWS = 100_000;
const COLD_ACCOUNTS = 20;
const DAY_MS = 24 * 60 * 60 * 1000;
const HOT_LIVES = 500;
/** The price goal of each kind of life, the first that matches: keys and caps write rows. */
const GOALS_DOLLARS = [
  { kind: "cold, session, webhook", dollars: 21 },
  { kind: "hot, session, webhook", dollars: 11 },
  { kind: "cold, session, lots", dollars: 17 },
  { kind: "hot, session, lots", dollars: 11 },
  { kind: "cold, session, keys", dollars: 18 },
  { kind: "hot, session, keys", dollars: 12 },
  { kind: "cold, capped token", dollars: 18 },
  { kind: "hot, capped token", dollars: 12 },
  { kind: "cold", dollars: 15 },
  { kind: "hot", dollars: 9 },
] as const;

const OPERATOR = "operator@example.com";

const CAP = { credits: 1_000_000, period: "month" };

interface Running {
  readonly url: string;
  readonly config: WorkerConfig;
  stop(): Promise<void>;
}

/** Starts a Worker with its counters. */
async function startCounted(
  config: string,
  directory: string,
  settings: Readonly<Record<string, string>>,
  port: number,
): Promise<Running> {
  const bundle = join(directory, "bundle");
  await bundleWorker(config, bundle);
  const around = await readFile("test/bench/workers/counted.js", "utf8");
  const persist_to = join(directory, "stores");
  const runtime = await startWorker({
    config,
    bundle,
    persist_to,
    port,
    settings,
    around,
    fresh: true,
    inspector_port: null,
  });
  return {
    url: `http://127.0.0.1:${port}`,
    config: readWorkerConfig(config),
    stop: () => runtime.dispose(),
  };
}

const MANNERS = [
  { name: "session", capped: false, keyed: false },
  { name: "session, keys", capped: false, keyed: true },
  { name: "capped token", capped: true, keyed: false },
  { name: "capped token, keys", capped: true, keyed: true },
] as const;

/** Lives without keys or caps, with the queue bound. Apart from the queue they take the same as without it. */
async function countThroughQueue({ url, config }: Running): Promise<Life[]> {
  const people = await openAccounts(url, "queue");
  await untilQuiet(url, true, QUEUE_QUIET_MS);
  const mannerOf = (person: Person): Manner => ({
    name: "session",
    keyed: false,
    proof: person.session,
  });
  const [hot] = people;
  if (hot === undefined) throw new Error("no person to run a life for");
  const cold = await coldLives(url, people, mannerOf, true, QUEUE_QUIET_MS);
  const many = await hotLives(url, mannerOf(hot), HOT_LIVES, true, QUEUE_QUIET_MS);
  return [
    { name: "cold, queue", counts: shareOf(cold, people.length), config },
    { name: "hot, queue", counts: shareOf(many, HOT_LIVES), config },
  ];
}

/** Passbook's lives, cold and hot. Each kind has its own accounts, since rows accumulate. */
async function countPassbook({ url, config }: Running): Promise<Life[]> {
  const lives: Life[] = [];
  for (const [index, { name, capped, keyed }] of MANNERS.entries()) {
    const people = await openAccounts(url, `manner-${index}`);
    const proofs = new Map<Person, readonly string[]>();
    for (const person of people) {
      proofs.set(person, capped ? await deviceLogin(url, person, { caps: [CAP] }) : person.session);
    }
    // The last use of a token is written once an hour. It is not a part of a life.
    await forEach(people, (person) => readWallet(url, proofs.get(person) ?? []));
    await untilQuiet(url, true);
    const mannerOf = (person: Person): Manner => ({
      name,
      keyed,
      proof: proofs.get(person) ?? [],
    });
    const [hot] = people;
    if (hot === undefined) throw new Error("no person to run a life for");
    const cold = shareOf(await coldLives(url, people, mannerOf, true), people.length);
    lives.push({ name: `cold, ${name}`, keyed, counts: cold, config });
    const many = shareOf(await hotLives(url, mannerOf(hot), HOT_LIVES, true), HOT_LIVES);
    lives.push({ name: `hot, ${name}`, keyed, counts: many, config });
    process.stderr.write(`${name}; `);
  }
  return lives;
}

/** One segment of the archive. Nothing is counted after it, because the clock stays ahead. */
async function countSegment({ url, config }: Running): Promise<Life> {
  const people = await openAccounts(url, "archive");
  await untilQuiet(url, true);
  const counts = shareOf(await agedSegments(url, people), people.length);
  return { name: "segment", counts, config };
}

/** Lives of sessions whose app has a webhook for the creation and the end of each job. */
async function countWithWebhook({ url, config }: Running): Promise<Life[]> {
  const receiver = createServer((_, response) => void response.writeHead(204).end());
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = receiver.address() as AddressInfo;
    await registerWebhook(url, `http://localhost:${port}/`);
    const people = await openAccounts(url, "webhook");
    await untilQuiet(url, true);
    const mannerOf = ({ session: proof }: Person): Manner => ({
      name: "session",
      keyed: false,
      proof,
    });
    const [hot] = people;
    if (hot === undefined) throw new Error("no person to run a life for");
    const cold = shareOf(await coldLives(url, people, mannerOf, true), people.length);
    const many = shareOf(await hotLives(url, mannerOf(hot), HOT_LIVES, true), HOT_LIVES);
    return [
      { name: "cold, session, webhook", counts: cold, config },
      { name: "hot, session, webhook", counts: many, config },
    ];
  } finally {
    receiver.close();
  }
}

/** Lives of sessions whose accounts have three lots: each job takes from the first one. */
async function countWithLots({ url, config }: Running): Promise<Life[]> {
  const people = await openAccounts(url, "lots");
  const act = await operatorOf(url);
  await forEach(people, async ({ identity_id }) => {
    for (const days of [30, 60, 90]) {
      const expires_at = new Date(Date.now() + days * DAY_MS).toISOString();
      const gift = { amount: 1_000_000, reason: "a gift", expires_at };
      await act("POST", `/accounts/${identity_id}/credits`, gift);
    }
  });
  await untilQuiet(url, true);
  const mannerOf = ({ session: proof }: Person): Manner => ({
    name: "session",
    keyed: false,
    proof,
  });
  const [hot] = people;
  if (hot === undefined) throw new Error("no person to run a life for");
  const cold = shareOf(await coldLives(url, people, mannerOf, true), people.length);
  const many = shareOf(await hotLives(url, mannerOf(hot), HOT_LIVES, true), HOT_LIVES);
  return [
    { name: "cold, session, lots", counts: cold, config },
    { name: "hot, session, lots", counts: many, config },
  ];
}

type Act = (method: string, path: string, body: object) => Promise<void>;

/** Calls of the operator. @returns sends a request below `/api/admin` */
async function operatorOf(url: string): Promise<Act> {
  const { cookie } = await signIn(url, OPERATOR);
  const lines = cookie.map((line) => line.split(": ", 2) as [string, string]);
  const headers = { ...Object.fromEntries(lines), "Content-Type": "application/json" };
  return async (method, path, body) => {
    const key = { "Idempotency-Key": crypto.randomUUID() };
    const request = { method, headers: { ...headers, ...key }, body: JSON.stringify(body) };
    const response = await fetch(`${url}/api/admin${path}`, request);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  };
}

async function registerWebhook(url: string, receiver: string): Promise<void> {
  const act = await operatorOf(url);
  const put = (path: string, body: object): Promise<void> => act("PUT", `/apps/bench${path}`, body);
  const app = { name: "Bench", starter_credits: 1_000_000, origins: [] };
  await put("", { ...app, daily_starter_budget: null });
  await put("/webhooks/main", { url: receiver, events: ["job.created", "job.completed"] });
}

async function openAccounts(url: string, name: string): Promise<readonly Person[]> {
  const emails = Array.from({ length: COLD_ACCOUNTS }, (_, at) => `${name}-${at}@example.com`);
  const people = await forEach(emails, (email) => signIn(url, email));
  await forEach(people, (person) => openWallet(url, person));
  return people;
}

async function printPrices(): Promise<void> {
  mkdirSync(".wrangler", { recursive: true });
  const directory = mkdtempSync(resolve(".wrangler", "price-"));
  const running: Running[] = [];
  try {
    const port = await freePort();
    const issuer = `http://127.0.0.1:${port}`;
    const own = { BASE_URL: issuer, ISSUER: issuer, OPERATORS: OPERATOR };
    const settings = { ...(await runSettings()), ...own };
    const passbook = await startCounted(
      "wrangler.toml",
      join(directory, "passbook"),
      settings,
      port,
    );
    running.push(passbook);
    const lives = await countPassbook(passbook);
    lives.push(...(await countWithLots(passbook)));
    lives.push(...(await countWithWebhook(passbook)));
    const segment = await countSegment(passbook);
    const queue_directory = join(directory, "queue");
    mkdirSync(queue_directory);
    const queue_port = await freePort();
    const queue_issuer = `http://127.0.0.1:${queue_port}`;
    const through_queue = await startCounted(
      await writeQueueConfig(queue_directory),
      queue_directory,
      { ...settings, BASE_URL: queue_issuer, ISSUER: queue_issuer },
      queue_port,
    );
    running.push(through_queue);
    lives.push(...(await countThroughQueue(through_queue)));
    process.stderr.write("\n");
    const list = JSON.parse(await readFile("test/bench/prices.json", "utf8")) as PriceList;
    const cold = lives.find(({ name }) => name === "cold, session");
    if (cold === undefined) throw new Error("no cold life was counted");
    const table = `${priceTable(lives, list)}\n${archiveTable(cold, segment, list)}`;
    console.log(table);
    writeFileSync(RESULTS, `# npm run price\n\n${table}\n`);
    const beyond = lives.flatMap((life) => {
      const goal = GOALS_DOLLARS.find(
        ({ kind }) => life.name === kind || life.name.startsWith(`${kind}, `),
      )?.dollars;
      const dollars = costOf(life, list);
      const is_beyond = goal !== undefined && dollars > goal;
      return is_beyond ? [`${life.name} $${dollars.toFixed(2)} of $${goal}`] : [];
    });
    const goals = GOALS_DOLLARS.map(({ kind, dollars }) => `a ${kind} life $${dollars}`).join(", ");
    console.log(
      `Goals, a million at most: ${goals}. ` +
        (beyond.length === 0 ? "All are within." : `TOO MUCH: ${beyond.join("; ")}.`),
    );
  } finally {
    for (const worker of running) await worker.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

const { values } = parseArgs({ options: { bytes: { type: "boolean", default: false } } });
if (values.bytes) {
  const table = footprintTable(measureFootprint(FOOTPRINT_ROWS));
  console.log(table);
  writeFileSync(BYTES_RESULTS, `# npm run price -- --bytes\n\n${table}\n`);
} else {
  await printPrices();
}
