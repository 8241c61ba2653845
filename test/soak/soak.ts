/**
 * `npm run soak`: accounts with books of their own use everything at once, while workerd is killed again and again, and then
 * for a long time. `--kills 10`: how often, each after five seconds of load. `--seconds 1200`: how long it then runs.
 * `--accounts 20`. Exits with 1 if a rule does not hold.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { freePort } from "../../src/commands/local_worker.ts";
import { forEach } from "../bench/people.ts";
import { pause } from "../bench/pause.ts";
import { runSettings } from "../bench/settings.ts";
import { startStripe } from "../outside/support/stripe_server.ts";
import { Account, type Source } from "./account.ts";
import { BrokenRule, Caller, expectRule } from "./caller.ts";
import { Figures, TREND_MIN_MINUTES } from "./figures.ts";
import { Leaver } from "./leaver.ts";
import { Receiver } from "./receiver.ts";
import { register } from "./registrations.ts";
import { Service } from "./service.ts";
import { tracesOf } from "./traces.ts";
import { makeChargesSlow } from "./top_ups.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "1200" },
    kills: { type: "string", default: "10" },
    accounts: { type: "string", default: "20" },
  },
});
const SECONDS = Number(values.seconds);
const KILLS = Number(values.kills);
const ACCOUNTS = Number(values.accounts);
const BETWEEN_KILLS_MS = 5_000;
const MEMORY_EVERY_MS = 1_000;
/** An account pauses so long between two things, so that the machine is busy, and not the queue in front of it. */
const PAUSE_MS = 20;
/** A webhook pauses up to ten minutes after its fourth failed attempt. */
const EVENTS_MAX_MS = 12 * 60_000;
const OPERATOR = "olga@example.com";
/** The accounts in turn. */
const SOURCES: readonly Source[] = ["plan", "top_up"];

type Actor = Account | Leaver;

/** All act until the returned function is called, which waits for their last responses. */
function load(actors: readonly Actor[]): () => Promise<void> {
  const until = new AbortController();
  const all = Promise.all(
    actors.map(async (actor) => {
      try {
        while (!until.signal.aborted) {
          await actor.act(Math.random());
          await pause(PAUSE_MS);
        }
      } finally {
        until.abort();
      }
    }),
  );
  // A broken rule is thrown by the function.
  all.catch(() => undefined);
  return async () => {
    until.abort();
    await all;
  };
}

async function killUnderLoad(service: Service, actors: readonly Actor[]): Promise<void> {
  for (let kill = 1; kill <= KILLS; kill += 1) {
    const stop = load(actors);
    await pause(BETWEEN_KILLS_MS);
    await service.killAndStart();
    await stop();
    await forEach(actors, (actor) => actor.checkEverything());
    console.log(`kill ${kill}: balances, jobs, ledgers and repeated keys are as answered`);
  }
}

async function soak(caller: Caller, actors: readonly Actor[], figures: Figures): Promise<void> {
  caller.is_measuring = true;
  const sample = setInterval(() => {
    const memory = caller.service.memory();
    if (memory !== null) figures.noteMemory(memory);
  }, MEMORY_EVERY_MS);
  const stop = load(actors);
  await pause(SECONDS * 1000);
  await stop();
  clearInterval(sample);
  caller.is_measuring = false;
  await forEach(actors, (actor) => actor.checkEverything());
}

/** Waits until the receiver has each event of each account. */
async function awaitEvents(accounts: readonly Account[], receiver: Receiver): Promise<number> {
  const until_ms = performance.now() + EVENTS_MAX_MS;
  let events = 0;
  for (const account of accounts) {
    const wanted = await account.checkLedger();
    const missing = () => {
      const arrived = receiver.linesOf(account.identity_id);
      return wanted.filter((line) => !arrived.has(line));
    };
    while (missing().length > 0) {
      const of = `lines ${missing().slice(0, 5).join(", ")} of ${account.identity_id}`;
      expectRule(performance.now() < until_ms, `each event arrives: ${of} did not`);
      await pause(500);
    }
    while (!account.isTold(receiver)) {
      const is_in_time = performance.now() < until_ms;
      expectRule(is_in_time, `each event of refused charges arrives: ${account.identity_id}`);
      await pause(500);
    }
    const extra = receiver.linesOf(account.identity_id).size - wanted.length;
    expectRule(
      extra === 0,
      `no event without an entry arrives: ${extra} of ${account.identity_id}`,
    );
    events += wanted.length;
  }
  expectRule(receiver.faults.length === 0, `events arrive in order: ${receiver.faults[0]}`);
  return events;
}

function report(
  figures: Figures,
  accounts: readonly Account[],
  elsewhere: readonly string[],
): void {
  const row = (cells: readonly (string | number)[]) => `| ${cells.join(" | ")} |`;
  console.log(row(["minute", "requests", "p50 ms", "p99 ms", "workerd MiB"]));
  console.log(row(["---", "---", "---", "---", "---"]));
  for (const { minute, requests, p50_ms, p99_ms, memory_mib } of figures.rows()) {
    console.log(
      row([minute, requests, p50_ms.toFixed(1), p99_ms.toFixed(1), memory_mib.toFixed(0)]),
    );
  }
  const done = new Map<string, number>();
  const came = new Map<string, number>();
  const returned = new Map<string, number>();
  const add = (sums: Map<string, number>, counts: ReadonlyMap<string, number>): void => {
    for (const [name, count] of counts) sums.set(name, (sums.get(name) ?? 0) + count);
  };
  for (const account of accounts) {
    add(done, account.done);
    add(returned, account.returned);
    add(came, account.came);
  }
  const listed = (counts: ReadonlyMap<string, number>): string =>
    [...counts].map(([name, count]) => `${count} ${name}`).join(", ") || "none";
  console.log(`${figures.requests} requests: ${listed(done)}`);
  console.log(`by themselves: ${listed(came)}`);
  console.log(`at Stripe: ${listed(returned)}`);
  console.log(`errors: ${listed(figures.errors)}`);
  for (const line of elsewhere) console.log(line);
  const trends = figures.trends();
  for (const { name, ratio, bound } of trends) {
    console.log(`${name} at the end / before: ${ratio.toFixed(2)} (at most ${bound})`);
  }
  if (trends.length === 0) {
    console.log(`memory and times are compared after ${TREND_MIN_MINUTES + 1} minutes`);
  }
  const broken = trends.find(({ ratio, bound }) => ratio > bound);
  expectRule(broken === undefined, `${broken?.name} grows`);
}

async function run(): Promise<void> {
  mkdirSync(".wrangler", { recursive: true });
  const bundle = mkdtempSync(resolve(".wrangler", "soak-"));
  const directory = mkdtempSync(join(tmpdir(), "passbook-soak-"));
  const stripe = await startStripe();
  makeChargesSlow(stripe.stripe);
  const receiver = await Receiver.open(await freePort());
  const settings = { ...(await runSettings()), ...stripe.settings, OPERATORS: OPERATOR };
  const service = await Service.start(directory, bundle, settings);
  try {
    const figures = new Figures();
    const caller = new Caller(service, figures);
    const operator = await register(caller, receiver, OPERATOR);
    const around = { caller, operator, stripe: stripe.stripe };
    const people = Array.from({ length: ACCOUNTS }, (_, at) => ({
      email: `person-${at}@example.com`,
      source: SOURCES[at % SOURCES.length] ?? "plan",
    }));
    const accounts = await forEach(people, ({ email, source }) =>
      Account.open(around, email, source),
    );
    const leaver = new Leaver(around, "leaver@example.com");
    const actors = [...accounts, leaver];
    await killUnderLoad(service, actors);
    await soak(caller, actors, figures);
    await forEach(actors, (actor) => actor.settle());
    await leaver.awaitEvents(receiver);
    const events = await awaitEvents(accounts, receiver);
    for (const { stream } of accounts) stream.close();
    const opened = accounts.reduce((sum, { stream }) => sum + stream.opened, 0);
    const streamed = accounts.reduce((sum, { stream }) => sum + stream.line, 0);
    await service.stop();
    const traces = tracesOf(service.stores, leaver.deleted);
    expectRule(traces.length === 0, `no store has a deleted account: ${traces[0]}`);
    report(figures, accounts, [
      `${leaver.deleted.length} accounts were deleted, and nothing is left of them; ${leaver.debts} times the next one owed credits`,
      `${KILLS} kills; ${events} events of ${ACCOUNTS} accounts arrived in order, in ${receiver.deliveries} deliveries`,
      `${streamed} entries arrived in order in ${ACCOUNTS} streams, which were opened ${opened} times`,
    ]);
    console.log("every rule held");
  } finally {
    await service.stop();
    receiver.close();
    stripe.close();
    rmSync(bundle, { recursive: true, force: true });
    rmSync(directory, { recursive: true, force: true });
  }
}

try {
  await run();
} catch (error) {
  if (!(error instanceof BrokenRule)) throw error;
  console.log(`broken: ${error.message}`);
  // At once, because the other accounts still wait for responses.
  process.exit(1);
}
