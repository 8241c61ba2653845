/** The phases of a run. */
import { pause } from "../bench/pause.ts";
import { Random } from "../simulator/platform/random.ts";
import { ASLEEP_MS, Population, type Arrival } from "./arrivals.ts";
import { Books } from "./books.ts";
import type { Callers } from "./callers.ts";
import { AS_PLANNED, AT_ONCE, type Manner, type Phase, type Service } from "./service.ts";

/** A share of the accounts exists before the first phase. */
const OPENED_SHARE = 0.05;
/** The memory of an object is measured while these are awake. The first ones also fill what objects share. */
const FIRST_OBJECTS = 500;
const MEASURED_OBJECTS = 1_000;
export const ACCOUNTS_MIN = FIRST_OBJECTS + MEASURED_OBJECTS;
const OVERLOAD = 3;
/** The service is measured at its limit for a part of the time, with more requests than it can take. */
const LIMIT_SHARE = 1 / 6;
/** One account may have 5,000 started jobs of an app, and its rate limit permits 3,600 in this time. */
const FLOOD_MAX_SECONDS = 60;
const BEYOND_ANY_RATE = 5_000;

export interface Options {
  /** The most accounts. */
  readonly accounts: number;
  /** Requests a second. */
  readonly rate: number;
  readonly seconds: number;
  readonly seed: number;
  readonly storage: string;
}

/** A step of the run, for people who wait. */
export function say(step: string): void {
  process.stderr.write(`${(performance.now() / 1000).toFixed(0).padStart(4)} s: ${step} …\n`);
}

/** Waits until every object sleeps. @returns how long earlier work took; null: it has not ended */
async function sleep(service: Service): Promise<number | null> {
  const [busy_ms] = await Promise.all([service.untilQuiet(), pause(ASLEEP_MS)]);
  return busy_ms;
}

/** What was measured of Passbook. */
export interface Measured extends Options {
  /** Requests a second that the machine sustains. */
  readonly sustained: number;
  readonly objects: number;
  /** How long the service worked on after the overload; null: longer than was waited. */
  readonly busy_ms: number | null;
  /** Without any object, and what so many more objects took while all were awake. */
  readonly memory: {
    readonly before_mib: number;
    readonly grown_mib: number;
    readonly objects: number;
  };
  readonly before: Phase;
  /** More than the machine sustains, from many accounts. */
  readonly overload: Phase;
  /** The rate, and as much as in the overload from one account. */
  readonly flood: Phase;
  readonly after: Phase;
  readonly books: Books;
}

/** The first phases, which are the same for the peer: accounts are opened, and then requests arrive at the rate. */
async function measureRate(service: Service, options: Options, books: Books | null) {
  const { accounts, rate, seconds, seed } = options;
  const population = new Population(accounts, new Random(seed));
  const send = async (arrivals: Arrival[], manner: Manner): Promise<Phase> => {
    const phase = await service.send(arrivals, manner);
    books?.note(arrivals, phase);
    const unopened = arrivals.filter(
      ({ state }, index) => state === "new" && phase.statuses[index] !== 200,
    );
    if (unopened.length > 0) await service.send(unopened, AT_ONCE);
    return phase;
  };
  const before_mib = service.memory();
  const first = await send(population.open(FIRST_OBJECTS), AT_ONCE);
  const more = await send(population.open(MEASURED_OBJECTS), AT_ONCE);
  const grown_mib = more.memory_after_mib - first.memory_after_mib;
  const memory = { before_mib, grown_mib, objects: more.arrivals.length };
  await send(population.open(Math.round(accounts * OPENED_SHARE) - population.opened), AT_ONCE);
  await sleep(service);
  say(`${rate} requests a second for ${seconds} s`);
  const before = await send(population.plan(rate, seconds, true), AS_PLANNED);
  await sleep(service);
  return { population, memory, before, send };
}

/** The rate, for comparison. */
export async function measurePeer(service: Service, options: Options): Promise<Phase> {
  say("the same on PostgreSQL: opening accounts");
  return (await measureRate(service, options, null)).before;
}

/** All phases, and then the check. */
export async function measurePassbook(
  service: Service,
  callers: Callers,
  options: Options,
): Promise<Measured> {
  const { rate, seconds } = options;
  const books = new Books();
  say("opening accounts of Passbook");
  const { population, memory, before, send } = await measureRate(service, options, books);
  say("measuring what the machine sustains");
  const limit_s = Math.max(2, seconds * LIMIT_SHARE);
  const limit = await send(population.plan(BEYOND_ANY_RATE, limit_s, false), {
    ...AT_ONCE,
    max_ms: limit_s * 1000,
  });
  const answered = limit.statuses.filter((status) => status === 200).length;
  const sustained = (answered * 1000) / limit.elapsed_ms;
  await sleep(service);
  const excess = OVERLOAD * sustained;
  say(`${Math.round(excess)} requests a second for ${seconds} s`);
  const overload = await send(population.plan(excess, seconds, false), AS_PLANNED);
  const busy_ms = await sleep(service);
  const flood_s = Math.min(seconds, FLOOD_MAX_SECONDS);
  say(`${rate} requests a second, and ${Math.round(excess)} of one account, for ${flood_s} s`);
  const plan = population.plan(rate, flood_s, false);
  const flood = await send(population.flood(plan, excess, flood_s), AS_PLANNED);
  await sleep(service);
  say(`${rate} requests a second for ${seconds} s`);
  const after = await send(population.plan(rate, seconds, true), AS_PLANNED);
  say("checking everything that was accepted");
  await books.check(service.port, callers);
  const objects = population.opened;
  const phases = { before, overload, flood, after };
  return { ...options, ...phases, sustained, objects, busy_ms, memory, books };
}
