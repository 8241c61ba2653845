/**
 * The daily proof: compares a share of all accounts with their own sums and with their copies in each run, so that every
 * account is compared within seven days, and notes what differs. It repairs nothing, because a difference may be a fault of
 * this code.
 */

/** Runs of the schedule in five days. The other two days of a week are for runs that fail. */
const RUNS_OF_ROUND = 5 * 24 * 6;

/** The least and the most accounts that one run compares. An invocation may make a thousand calls; other tasks need some. */
export const ACCOUNTS_COMPARED = { least: 50, most: 500 } as const;

/** Accounts that are compared at the same time. */
const COMPARED_AT_ONCE = 50;

/** Payments that one run reads from the payment service, roughly. */
const PAYMENTS_READ = 100;

/** The daily totals of all accounts are compared once in this time. */
const TOTALS_PAUSE_MS = 23 * 60 * 60_000;

interface Difference {
  readonly where: string;
  readonly what: string;
  readonly expected: number | null;
  readonly found: number | null;
}

interface Compared {
  /** Null: the person has no account. */
  readonly account_id: string | null;
  readonly differences: readonly Difference[];
  /** Payments that were read from the payment service. */
  readonly payments: number;
}

interface Round {
  /** The last identity that was compared. */
  readonly after_id: string;
  readonly began_at_ms: number;
  /** How many people the round before compared; 0: unknown. */
  readonly accounts: number;
  /** How many this one has compared. */
  readonly compared: number;
  readonly totals_at_ms: number;
}

interface Stores {
  /** Identities after this one, in order. */
  readonly listPeople: (after_id: string, limit: number) => Promise<readonly string[]>;
  readonly compare: (identity_id: string) => Promise<Compared>;
  readonly proof: {
    readRound(): Promise<Round | null>;
    writeRound(round: Round): Promise<void>;
    compareTotals(): Promise<readonly Difference[]>;
    save(account_id: string | null, found: readonly Difference[], at_ms: number): Promise<void>;
  };
  /** Counts differences for the operators. */
  readonly count: (found: { readonly reason: string; readonly count: number }) => Promise<void>;
}

interface Result {
  readonly compared: number;
  readonly differences: number;
}

/** How many accounts one run compares, so that so many are compared in five days. 0: it is not known how many there are. */
export function shareOf(accounts: number): number {
  const { least, most } = ACCOUNTS_COMPARED;
  if (accounts === 0) return most;
  return Math.min(most, Math.max(least, Math.ceil(accounts / RUNS_OF_ROUND)));
}

/**
 * Continues the round, and begins the next one after the last person.
 * @throws if an account or a copy did not respond; the other accounts were compared.
 */
export async function compareSomeAccounts(stores: Stores, now_ms: number): Promise<Result> {
  const { proof, listPeople } = stores;
  const begin = (accounts: number, totals_at_ms: number): Round => ({
    after_id: "",
    began_at_ms: now_ms,
    accounts,
    compared: 0,
    totals_at_ms,
  });
  let round = (await proof.readRound()) ?? begin(0, 0);
  const found: Difference[] = [];
  if (now_ms - round.totals_at_ms >= TOTALS_PAUSE_MS) {
    const totals = await proof.compareTotals();
    await proof.save(null, totals, now_ms);
    found.push(...totals);
    round = { ...round, totals_at_ms: now_ms };
  }
  const share = shareOf(round.accounts);
  const people = await listPeople(round.after_id, share);
  const done = await compareInOrder(stores, people, now_ms);
  found.push(...done.differences);
  const is_over = people.length < share && done.compared === people.length;
  const after_id = people[done.compared - 1] ?? round.after_id;
  const compared = round.compared + done.compared;
  const next = is_over ? begin(compared, round.totals_at_ms) : { ...round, after_id, compared };
  await proof.writeRound(next);
  const [first] = found;
  if (first !== undefined) {
    const { where, what } = first;
    console.error({ event: "account_differs", differences: found.length, where, what });
    await stores.count({ reason: `${where}: ${what}`, count: found.length });
  }
  if (done.failure !== null) throw done.failure.reason;
  return { compared: done.compared, differences: found.length };
}

/** Stops early if a copy of all accounts does not respond, or after many payments. The next run continues there. */
async function compareInOrder(
  { compare, proof }: Stores,
  people: readonly string[],
  now_ms: number,
) {
  const differences: Difference[] = [];
  let failure: PromiseRejectedResult | null = null;
  let [compared, payments] = [0, 0];
  while (compared < people.length && payments < PAYMENTS_READ) {
    const some = people.slice(compared, compared + COMPARED_AT_ONCE);
    const outcomes = await Promise.allSettled(some.map((identity_id) => compare(identity_id)));
    failure ??= outcomes.find((one) => one.status === "rejected") ?? null;
    const known = outcomes.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    if (known.length === 0) break;
    for (const { account_id, ...one } of known) {
      if (account_id !== null) await proof.save(account_id, one.differences, now_ms);
      differences.push(...one.differences);
      payments += one.payments;
    }
    compared += some.length;
  }
  return { compared, differences, failure };
}
