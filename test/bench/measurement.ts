/** Runs bursts in turn, and collects their results. */
import type { Block, Plan, Variant } from "./cells.ts";
import type { Contender, ContenderName } from "./contenders.ts";
import type { Crowd } from "./crowd.ts";
import type { Outcome, StartedJob, Work } from "./load.ts";
import { Loader } from "./loader.ts";
import { OPEN_JOBS_SHARE } from "../../src/domain/limits.ts";
import { cpuMilliseconds, memoryMebibytes } from "./processes.ts";
import { quantile } from "./statistics.ts";

/** The results of one contender for one kind of work and one variant, one value per round. */
export interface Cell {
  readonly contender: ContenderName;
  readonly work: Work;
  readonly variant: Variant;
  readonly requests_per_second: number[];
  readonly p50_ms: number[];
  readonly p99_ms: number[];
  /** The processor time of all its processes, including work after the responses. */
  readonly cpu_ms_per_request: number[];
  readonly memory_mib: number[];
}

const CONNECTIONS = 16;
/** Started jobs that a burst leaves free of a token's and an app's share, for those of its other connections. */
const SPARE_JOBS = 100;
/** Rows are delivered about a second after they are written. That work belongs to the burst. */
const AFTERWARDS_MS = 1_300;
/** An object without requests falls asleep after ten seconds. */
const ASLEEP_AFTER_MS = 11_000;
const WRITES: readonly Work[] = ["create", "complete", "create_batch", "complete_batch", "life"];

export class Measurement {
  readonly cells: Cell[] = [];
  readonly #contenders: readonly Contender[];
  readonly #crowd: Crowd;
  readonly #loader = new Loader();
  /** The time of the last request to a contender's many accounts. */
  readonly #last_request_ms = new Map<ContenderName, number>();

  constructor(contenders: readonly Contender[], crowd: Crowd) {
    this.#contenders = contenders;
    this.#crowd = crowd;
  }

  stop(): void {
    this.#loader.stop();
  }

  /** Measures a block. Its first round only warms up. */
  async run({ works, variants }: Block, { rounds, burst_ms }: Plan): Promise<void> {
    process.stderr.write(`${works.join(", ")}: `);
    for (let round = 0; round <= rounds; round += 1) {
      await this.#crowd.renew();
      for (const variant of variants) {
        for (const contender of this.#inTurn(variant, round)) {
          await this.#turn(contender, variant, works, burst_ms, round > 0);
        }
      }
      process.stderr.write(round === 0 ? "warm " : `${round}/${rounds} `);
    }
    process.stderr.write("\n");
  }

  /** The contenders of a variant, in a different order in each round. */
  #inTurn(variant: Variant, round: number): readonly Contender[] {
    const able = this.#contenders.filter(({ name }) => variant.contenders.includes(name));
    const first = round % Math.max(able.length, 1);
    return [...able.slice(first), ...able.slice(0, first)];
  }

  /** Lets the accounts of a variant fall asleep, or wakes them. */
  async #prepare({ name, port }: Contender, variant: Variant): Promise<void> {
    if (variant.accounts === "hot") return;
    if (variant.accounts === "asleep") {
      const asleep_ms = (this.#last_request_ms.get(name) ?? performance.now()) + ASLEEP_AFTER_MS;
      await new Promise((resolve) =>
        setTimeout(resolve, Math.max(0, asleep_ms - performance.now())),
      );
      return;
    }
    const callers = this.#crowd.callersOf(variant);
    const once = { port, connections: CONNECTIONS, callers, max_requests: callers.length };
    await this.#loader.run({ ...once, work: "wallet", jobs: [], max_ms: 60_000 });
  }

  async #turn(
    contender: Contender,
    variant: Variant,
    works: readonly Work[],
    max_ms: number,
    counts: boolean,
  ): Promise<void> {
    let jobs: readonly StartedJob[] = [];
    for (const work of works) {
      await this.#prepare(contender, variant);
      const cpu_before_ms = cpuMilliseconds(contender.pids());
      const outcome = await this.#loader.run({
        port: contender.port,
        connections: CONNECTIONS,
        work,
        callers: this.#crowd.callersOf(variant),
        jobs,
        max_requests: work.startsWith("create")
          ? mostStarted(variant) - SPARE_JOBS
          : Number.MAX_SAFE_INTEGER,
        max_ms,
      });
      jobs = outcome.jobs;
      if (variant.accounts !== "hot") this.#last_request_ms.set(contender.name, performance.now());
      if (WRITES.includes(work) && contender.name === "passbook") {
        await new Promise((resolve) => setTimeout(resolve, AFTERWARDS_MS));
      }
      const cpu_ms = cpuMilliseconds(contender.pids()) - cpu_before_ms;
      if (counts) this.#record(contender, variant, work, outcome, cpu_ms);
    }
  }

  #record(
    contender: Contender,
    variant: Variant,
    work: Work,
    outcome: Outcome,
    cpu_ms: number,
  ): void {
    const { requests, elapsed_ms, latencies_ms } = outcome;
    const cell = this.#cell(contender.name, work, variant);
    cell.requests_per_second.push((requests * 1000) / elapsed_ms);
    cell.p50_ms.push(quantile(latencies_ms, 0.5));
    cell.p99_ms.push(quantile(latencies_ms, 0.99));
    cell.cpu_ms_per_request.push(cpu_ms / requests);
    cell.memory_mib.push(memoryMebibytes(contender.pids()));
  }

  #cell(contender: ContenderName, work: Work, variant: Variant): Cell {
    const known = this.cells.find(
      (cell) => cell.contender === contender && cell.work === work && cell.variant === variant,
    );
    if (known !== undefined) return known;
    const cell: Cell = {
      contender,
      work,
      variant,
      requests_per_second: [],
      p50_ms: [],
      p99_ms: [],
      cpu_ms_per_request: [],
      memory_mib: [],
    };
    this.cells.push(cell);
    return cell;
  }
}

/** The most jobs that the caller of a variant may have started at once. */
function mostStarted({ proof }: Variant): number {
  return OPEN_JOBS_SHARE[proof === "personal" ? "token" : "app"];
}
