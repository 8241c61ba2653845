/** A contender under load: sends a plan and measures its processes meanwhile. */
import { fork, type ChildProcess } from "node:child_process";
import type { Contender } from "../bench/contenders.ts";
import { pause } from "../bench/pause.ts";
import {
  cpuMilliseconds,
  machineCpuMilliseconds,
  memoryMebibytes,
  processesOf,
} from "../bench/processes.ts";
import type { Arrival } from "./arrivals.ts";
import type { Callers } from "./callers.ts";
import type { Outcome, Task } from "./requests.ts";

/** A phase and what it took. */
export interface Phase extends Outcome {
  readonly arrivals: readonly Arrival[];
  /** Of the service, with the work that follows the responses. */
  readonly service_cpu_ms: number;
  /** The cores that other programs of the machine used, on average. */
  readonly other_cores: number;
  readonly memory_before_mib: number;
  readonly memory_after_mib: number;
}

/** How a plan is sent. */
export type Manner = Pick<Task, "connections" | "patience_ms" | "max_ms">;

/** Everything at once on a few connections, each of which sends the next request after each response. */
export const AT_ONCE: Manner = { connections: 64, patience_ms: 600_000, max_ms: Infinity };
/** A connection for each request that waits, and people who give up after ten seconds. */
export const AS_PLANNED: Manner = { connections: 2_000, patience_ms: 10_000, max_ms: Infinity };

/** A service is quiet if it used less than this share of a core for this time. */
const QUIET_SHARE = 0.3;
const QUIET_MS = 3_000;
const QUIET_WAIT_MAX_MS = 180_000;
/** Changes reach the read model about a second after the response. That work belongs to the phase. */
const AFTERWARDS_MS = 1_500;

export class Service {
  readonly #contender: Contender;
  readonly #callers: Callers;
  readonly #client: ChildProcess = fork(new URL("client.ts", import.meta.url), {
    serialization: "advanced",
  });

  constructor(contender: Contender, callers: Callers) {
    this.#contender = contender;
    this.#callers = callers;
  }

  get port(): number {
    return this.#contender.port;
  }

  stop(): void {
    this.#client.kill();
  }

  /** The memory of the service in MiB: of workerd, or of the peer with PostgreSQL. */
  memory(): number {
    const pids = this.#contender.pids();
    const workerd = processesOf(pids).find(({ program }) => program === "workerd");
    return memoryMebibytes(workerd === undefined ? pids : [workerd.pid]);
  }

  /** Waits until nothing is left of earlier work. @returns how long that took; null if it did not happen */
  async untilQuiet(): Promise<number | null> {
    const began_ms = performance.now();
    for (;;) {
      const before_ms = cpuMilliseconds(this.#contender.pids());
      await pause(QUIET_MS);
      const used_ms = cpuMilliseconds(this.#contender.pids()) - before_ms;
      const waited_ms = performance.now() - began_ms;
      if (used_ms < QUIET_SHARE * QUIET_MS) return waited_ms - QUIET_MS;
      if (waited_ms > QUIET_WAIT_MAX_MS) return null;
    }
  }

  /** Sends all of this and waits until each request has a response or was given up. */
  async send(arrivals: readonly Arrival[], manner: Manner): Promise<Phase> {
    const tokens = await this.#callers.tokensOf(arrivals.map(({ account }) => account));
    const memory_before_mib = this.memory();
    const cpu_before_ms = cpuMilliseconds(this.#contender.pids());
    const machine_before_ms = machineCpuMilliseconds();
    const began_ms = performance.now();
    const outcome = await this.#run({ ...manner, port: this.port, arrivals, tokens });
    const memory_after_mib = this.memory();
    await pause(AFTERWARDS_MS);
    const service_cpu_ms = cpuMilliseconds(this.#contender.pids()) - cpu_before_ms;
    const machine_ms = machineCpuMilliseconds() - machine_before_ms;
    const other_cores =
      (machine_ms - service_cpu_ms - outcome.cpu_ms) / (performance.now() - began_ms);
    const memory = { memory_before_mib, memory_after_mib };
    return { ...outcome, arrivals, service_cpu_ms, other_cores, ...memory };
  }

  #run(task: Task): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const end = (): void => reject(new Error("the client ended"));
      this.#client.once("exit", end);
      this.#client.once("message", (outcome: Outcome) => {
        this.#client.off("exit", end);
        resolve(outcome);
      });
      this.#client.send(task);
    });
  }
}
