/**
 * `npm run price`: what a million job lives cost at Cloudflare's list prices (`prices.json`), counted
 * over the real runtime by bindings and cursors that count, beside the same lives in a design that
 * keeps everything in D1. Storage and what a plan includes are left out.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { freePort } from "../../src/commands/local_worker.ts";
import { coldLives, hotLives, shareOf, untilQuiet, type Manner } from "./lives.ts";
import { deviceLogin, forEach, openWallet, signIn, type Person } from "./people.ts";
import { bundleWorker, readWorkerConfig, startWorker, type WorkerConfig } from "./platform.ts";
import { costOf, priceTable, type Life, type PriceList } from "./pricing.ts";
import { runSettings } from "./settings.ts";

const COLD_ACCOUNTS = 20;
const HOT_LIVES = 500;
const COLD_GOAL_DOLLARS = 12;
const HOT_GOAL_DOLLARS = 8;

const CAP = { credits: 1_000_000, period: "30_days" };

interface Running {
  readonly url: string;
  readonly config: WorkerConfig;
  stop(): Promise<void>;
}

/** Starts a Worker with its counters around it. */
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

/** Passbook's lives, cold and hot, in each manner. */
async function countPassbook({ url, config }: Running, people: readonly Person[]): Promise<Life[]> {
  const capped = new Map<Person, readonly string[]>();
  for (const person of people) capped.set(person, await deviceLogin(url, person, { cap: CAP }));
  // A token's use is noted once an hour: that is not part of a life.
  await forEach(people, async (person) => {
    await fetch(`${url}/api/wallet`, { headers: { Authorization: bearerOf(capped, person) } });
  });
  await untilQuiet(url, false);
  const manners: readonly [string, (person: Person) => Manner][] = [
    ["session", (person) => ({ name: "session", proof: person.session, keyed: false })],
    ["session, keys", (person) => ({ name: "session, keys", proof: person.session, keyed: true })],
    [
      "capped token",
      (person) => ({ name: "capped token", proof: capped.get(person) ?? [], keyed: false }),
    ],
    [
      "capped token, keys",
      (person) => ({ name: "capped token, keys", proof: capped.get(person) ?? [], keyed: true }),
    ],
  ];
  const [hot] = people;
  if (hot === undefined) throw new Error("nobody leads a life");
  const lives: Life[] = [];
  for (const [name, mannerOf] of manners) {
    const cold = await coldLives(url, people, mannerOf, true);
    lives.push({ name: `cold, ${name}`, counts: shareOf(cold, people.length), config });
    const many = await hotLives(url, mannerOf(hot), HOT_LIVES, true);
    lives.push({ name: `hot, ${name}`, counts: shareOf(many, HOT_LIVES), config });
    process.stderr.write(`${name} `);
  }
  return lives;
}

function bearerOf(tokens: ReadonlyMap<Person, readonly string[]>, person: Person): string {
  return tokens.get(person)?.[0]?.slice("Authorization: ".length) ?? "";
}

/** The same lives in D1 alone; it knows no keys and no caps. */
async function countD1Only({ url, config }: Running, people: readonly Person[]): Promise<Life[]> {
  const manner = (person: Person): Manner => ({
    name: "session",
    proof: person.session,
    keyed: false,
  });
  await forEach(people, (person) => openWallet(url, person));
  const cold = await coldLives(url, people, manner, false);
  return [{ name: "D1 only", counts: shareOf(cold, people.length), config }];
}

mkdirSync(".wrangler", { recursive: true });
const directory = mkdtempSync(resolve(".wrangler", "price-"));
const running: Running[] = [];
try {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const settings = { ...(await runSettings()), BASE_URL: issuer, ISSUER: issuer };
  const passbook = await startCounted("wrangler.toml", join(directory, "passbook"), settings, port);
  running.push(passbook);
  const names = Array.from({ length: COLD_ACCOUNTS }, (_, index) => `cold-${index}@example.com`);
  const people = await forEach(names, (email) => signIn(passbook.url, email));
  await forEach(people, (person) => openWallet(passbook.url, person));
  await untilQuiet(passbook.url, true);
  const lives = await countPassbook(passbook, people);
  const d1_config = "test/bench/workers/d1_only.toml";
  const d1_directory = join(directory, "d1-only");
  const d1_only = await startCounted(d1_config, d1_directory, settings, await freePort());
  running.push(d1_only);
  const again = await forEach(names, (email) => signIn(passbook.url, email));
  lives.push(...(await countD1Only(d1_only, again)));
  process.stderr.write("\n");
  const list = JSON.parse(await readFile("test/bench/prices.json", "utf8")) as PriceList;
  console.log(priceTable(lives, list));
  const dearest = (kind: string): number =>
    Math.max(
      ...lives.filter(({ name }) => name.startsWith(kind)).map((life) => costOf(life, list)),
    );
  const verdict = (dollars: number, goal: number): string =>
    `$${dollars.toFixed(2)} of at most $${goal}${dollars > goal ? ": TOO MUCH" : ""}`;
  console.log(
    `Dearest cold life ${verdict(dearest("cold"), COLD_GOAL_DOLLARS)}; ` +
      `dearest hot life ${verdict(dearest("hot"), HOT_GOAL_DOLLARS)}, a million.`,
  );
} finally {
  for (const worker of running) await worker.stop();
  rmSync(directory, { recursive: true, force: true });
}
