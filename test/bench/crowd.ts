/** The accounts of a run, the same for every contender. */
import type { Plan, Variant } from "./cells.ts";
import type { Contender } from "./contenders.ts";
import { deviceLogin, forEach, openWallet, signIn, type Person } from "./people.ts";
import { Loader } from "./loader.ts";

/** Session tokens live 15 minutes. Before they expire, everybody signs in again. */
const RENEW_AFTER_MS = 8 * 60_000;
/** A list of 50 needs more than 50 jobs; most are copies. */
const JOBS_BEHIND_MIN = 51;
/** An object delivers its changes some seconds after the last one. */
const QUIET_MS = 8_000;

export class Crowd {
  readonly #url: string;
  readonly #personal: ReadonlyMap<string, readonly string[]>;
  #hot: ReadonlyMap<number, Person>;
  #many: readonly Person[];
  #renewed_ms = performance.now();

  constructor(
    url: string,
    hot: ReadonlyMap<number, Person>,
    many: readonly Person[],
    personal: ReadonlyMap<string, readonly string[]>,
  ) {
    this.#url = url;
    this.#hot = hot;
    this.#many = many;
    this.#personal = personal;
  }

  /** Signs everybody in again if their tokens expire soon. */
  async renew(): Promise<void> {
    if (performance.now() - this.#renewed_ms < RENEW_AFTER_MS) return;
    const again = (person: Person): Promise<Person> => signIn(this.#url, person.email);
    const hot = [...this.#hot];
    this.#hot = new Map(
      await forEach(hot, async ([behind, person]): Promise<[number, Person]> => [
        behind,
        await again(person),
      ]),
    );
    this.#many = await forEach(this.#many, again);
    this.#renewed_ms = performance.now();
  }

  /** The header lines of a variant's callers. */
  callersOf({ accounts, jobs_behind, proof }: Variant): readonly (readonly string[])[] {
    const people = accounts === "hot" ? [this.#hot.get(jobs_behind)] : this.#many;
    return people.flatMap((person) => {
      if (person === undefined) return [];
      return proof === "personal" ? [this.#personal.get(person.email) ?? []] : [person[proof]];
    });
  }
}

/** Creates the accounts at Passbook, opens them everywhere, and adds their histories. */
export async function prepareCrowd(contenders: readonly Contender[], plan: Plan): Promise<Crowd> {
  const passbook = contenders.find(({ name }) => name === "passbook");
  if (passbook === undefined) throw new Error("Passbook is not among the contenders");
  const url = `http://127.0.0.1:${passbook.port}`;
  const variants = plan.blocks.flatMap(({ variants }) => variants);
  const behinds = [...new Set(variants.map(({ jobs_behind }) => jobs_behind))];
  const hot = new Map<number, Person>();
  for (const behind of behinds) hot.set(behind, await signIn(url, `hot-${behind}@example.com`));
  const names = Array.from({ length: plan.people }, (_, index) => `person-${index}@example.com`);
  const many = await forEach(names, (email) => signIn(url, email));
  const personal = new Map<string, readonly string[]>();
  const loader = new Loader();
  try {
    for (const { port } of contenders) {
      const everybody = [...hot.values(), ...many];
      await forEach(everybody, (person) => openWallet(`http://127.0.0.1:${port}`, person));
      const callers = everybody.map(({ session }) => session);
      const once = { port, connections: 16, callers, max_requests: callers.length };
      await loader.run({ ...once, work: "life", jobs: [], max_ms: 600_000 });
    }
  } finally {
    loader.stop();
  }
  for (const person of hot.values()) personal.set(person.email, await deviceLogin(url, person));
  const pasts = [
    ...[...hot].map(([jobs, { identity_id }]) => ({ identity_id, jobs })),
    ...many.map(({ identity_id }) => ({ identity_id, jobs: 0 })),
  ].map(({ identity_id, jobs }) => ({ identity_id, jobs: Math.max(jobs, JOBS_BEHIND_MIN) }));
  process.stderr.write("filling pasts … ");
  await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  for (const contender of contenders) await contender.fill(pasts);
  process.stderr.write("done\n");
  return new Crowd(url, hot, many, personal);
}
