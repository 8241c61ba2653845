/**
 * The client: a process that sends each request when it is planned, whatever became of the earlier ones. A time counts from
 * the planned arrival to the end of the response, so a request that had to wait, also here, shows the wait.
 */
import { Connection } from "../bench/connection.ts";
import { bytesOf, LOST, NO_RESPONSE, NOT_SENT, type Outcome, type Task } from "./requests.ts";

const SAMPLES_MAX = 5;

class Run {
  readonly #task: Task;
  readonly #statuses: number[];
  readonly #has_retry_after: boolean[];
  readonly #times_ms: number[];
  readonly #late_ms: number[];
  readonly #job_ids = new Map<number, string>();
  readonly #samples: string[] = [];
  readonly #idle: Connection[] = [];
  readonly #started_ms = performance.now();
  #connections = 0;
  #is_full = false;
  /** The first arrival that was not sent yet. */
  #next = 0;

  constructor(task: Task) {
    this.#task = task;
    const length = task.arrivals.length;
    this.#statuses = Array.from({ length }, () => NOT_SENT);
    this.#has_retry_after = Array.from({ length }, () => false);
    this.#times_ms = Array.from({ length }, () => 0);
    this.#late_ms = Array.from({ length }, () => 0);
  }

  async finish(): Promise<Outcome> {
    const cpu = process.cpuUsage();
    const { arrivals } = this.#task;
    const sent = new Set<Promise<void>>();
    while (this.#next < arrivals.length && this.#now() < this.#task.max_ms) {
      while (this.#hasToSend()) {
        const request = this.#send(this.#next++).finally(() => sent.delete(request));
        sent.add(request);
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await Promise.all(sent);
    for (const connection of this.#idle) connection.close();
    const { user, system } = process.cpuUsage(cpu);
    return {
      elapsed_ms: this.#now(),
      cpu_ms: (user + system) / 1000,
      is_full: this.#is_full,
      statuses: this.#statuses,
      has_retry_after: this.#has_retry_after,
      times_ms: this.#times_ms,
      late_ms: this.#late_ms,
      job_ids: this.#job_ids,
      samples: this.#samples,
    };
  }

  #now(): number {
    return performance.now() - this.#started_ms;
  }

  /** Whether the next arrival is due and a connection is free. Those that waited too long are left out. */
  #hasToSend(): boolean {
    const { arrivals, connections, patience_ms } = this.#task;
    const dueMs = (): number => arrivals[this.#next]?.at_ms ?? Infinity;
    for (; dueMs() < this.#now() - patience_ms; this.#next += 1) {
      this.#times_ms[this.#next] = this.#now() - dueMs();
    }
    return dueMs() <= this.#now() && this.#connections < connections;
  }

  async #send(index: number): Promise<void> {
    const arrival = this.#task.arrivals[index];
    if (arrival === undefined) return;
    this.#connections += 1;
    this.#is_full ||= this.#connections === this.#task.connections;
    const { port, patience_ms, tokens } = this.#task;
    try {
      const free = this.#idle.pop();
      const connection = free?.is_open === true ? free : await Connection.open(port, patience_ms);
      this.#late_ms[index] = this.#now() - arrival.at_ms;
      const request = bytesOf(arrival, tokens.get(arrival.account) ?? "");
      const { status, head, body } = await connection.ask(request);
      this.#note(index, status, /\r\nretry-after: *\d/i.test(head), body);
      this.#idle.push(connection);
    } catch (error) {
      const is_silent = String(error).includes("no response within");
      this.#statuses[index] = is_silent ? NO_RESPONSE : LOST;
      if (!is_silent && this.#samples.length < SAMPLES_MAX) this.#samples.push(String(error));
    } finally {
      this.#connections -= 1;
      this.#times_ms[index] = this.#now() - arrival.at_ms;
    }
  }

  #note(index: number, status: number, has_retry_after: boolean, body: string): void {
    this.#statuses[index] = status;
    this.#has_retry_after[index] = has_retry_after;
    if (status !== 200) {
      if (!has_retry_after && this.#samples.length < SAMPLES_MAX) {
        this.#samples.push(`${status} ${body.slice(0, 300)}`);
      }
      return;
    }
    if (this.#task.arrivals[index]?.kind !== "create") return;
    const { job_id = "" } = JSON.parse(body) as { job_id?: string };
    this.#job_ids.set(index, job_id);
  }
}

process.on("message", (task: Task) => {
  void new Run(task).finish().then((outcome) => process.send?.(outcome));
});
process.once("disconnect", () => process.exit(0));
