/** An account's stream of entries, opened again whenever it ends: each entry arrives once, in order, with its balance. */
import type { Service } from "./service.ts";

interface Event {
  readonly line?: number;
  readonly kind: string;
  readonly amount: number;
  readonly credits: number;
}

const PAUSE_MS = 200;

export class Stream {
  readonly #service: Service;
  readonly #proof: () => readonly string[];
  readonly #ends = new AbortController();
  /** The newest entry that arrived. */
  line = 0;
  credits = 0;
  /** How often it was opened. */
  opened = 0;
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

  async #watch(): Promise<void> {
    const { signal } = this.#ends;
    while (!signal.aborted) {
      try {
        await this.#read(signal);
      } catch {
        // The service was killed, or the token has ended.
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    const lines = this.#proof().map((line) => line.split(/: (.*)/s, 2) as [string, string]);
    const url = `${this.#service.url}/api/events?after=${this.line}`;
    const response = await fetch(url, { headers: Object.fromEntries(lines), signal });
    if (!response.ok || response.body === null) return;
    this.opened += 1;
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
