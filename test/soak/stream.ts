/** An account's stream of entries, opened again whenever it ends: each entry arrives once, in order, with its balance. */
import { pause } from "../bench/pause.ts";
import { expectRule } from "./caller.ts";
import type { Service } from "./service.ts";

interface Event {
  readonly line?: number;
  readonly kind: string;
  readonly amount: number;
  readonly credits: number;
}

const PAUSE_MS = 200;
/** An entry arrives within this time, also after the service was killed. */
const ARRIVES_MAX_MS = 30_000;

export class Stream {
  readonly #service: Service;
  readonly #proof: () => readonly string[];
  readonly #ends = new AbortController();
  /** The newest entry that arrived. */
  line = 0;
  credits = 0;
  /** How often it was opened. */
  opened = 0;
  is_open = false;
  /** What was wrong with an event. */
  fault: string | null = null;

  /** `proof`: the header lines of the next request. */
  constructor(service: Service, proof: () => readonly string[]) {
    this.#service = service;
    this.#proof = proof;
    void this.#watch();
  }

  close(): void {
    this.#ends.abort();
  }

  /** Waits until the stream has every entry up to this line, after which the balance is `credits`. */
  async expectLine(line: number, credits: number, identity_id: string): Promise<void> {
    const until_ms = performance.now() + ARRIVES_MAX_MS;
    while (this.line < line && this.fault === null) {
      const where = `${this.line} of ${line} lines of ${identity_id}`;
      expectRule(performance.now() < until_ms, `a stream gets each entry: ${where}`);
      await pause(PAUSE_MS);
    }
    const { fault } = this;
    expectRule(fault === null, `entries arrive in a stream in order: ${fault} of ${identity_id}`);
    // A newer entry has another balance, which was compared with the one before it.
    const is_same = this.line > line || this.credits === credits;
    expectRule(is_same, `a stream ends with the balance: ${this.credits} of ${identity_id}`);
  }

  async #watch(): Promise<void> {
    const { signal } = this.#ends;
    while (!signal.aborted) {
      try {
        await this.#read(signal);
      } catch {
        // The service was killed, or the token has ended.
      }
      this.is_open = false;
      await pause(PAUSE_MS);
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    const lines = this.#proof().map((line) => line.split(/: (.*)/s, 2) as [string, string]);
    const url = `${this.#service.url}/api/events?after=${this.line}`;
    const response = await fetch(url, { headers: Object.fromEntries(lines), signal });
    if (!response.ok || response.body === null) return;
    this.opened += 1;
    this.is_open = true;
    let rest = "";
    for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
      const parts = (rest + text).split("\n");
      rest = parts.pop() ?? "";
      for (const part of parts)
        if (part.startsWith("data:")) this.#take(JSON.parse(part.slice("data:".length)) as Event);
    }
  }

  #take({ line, kind, amount, credits }: Event): void {
    if (line === undefined) return;
    if (kind === "snapshot") this.fault ??= `a snapshot at line ${line}, after line ${this.line}`;
    else if (line !== this.line + 1) this.fault ??= `line ${line} after line ${this.line}`;
    else if (credits !== this.credits + amount) {
      this.fault ??= `line ${line} has ${credits} credits, after ${this.credits} and ${amount}`;
    }
    this.line = line;
    this.credits = credits;
  }
}
