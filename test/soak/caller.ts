/** Requests that are repeated until they have a response, whatever is killed meanwhile. */
import { pause } from "../bench/pause.ts";
import type { Figures } from "./figures.ts";
import type { Service } from "./service.ts";

/** A rule that does not hold. It ends the run. */
export class BrokenRule extends Error {
  override readonly name = "BrokenRule";
}

/** @throws BrokenRule */
export function expectRule(holds: boolean, rule: string): void {
  if (!holds) throw new BrokenRule(rule);
}

export interface Sent {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  /** Header lines. */
  readonly proof: readonly string[];
  readonly body?: object | string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly location: string | null;
  // oxlint-disable-next-line typescript/no-explicit-any -- the books look into it freely
  readonly json: any;
  /** Whether an earlier attempt had no response, so that this one may be the second. */
  readonly is_repeated: boolean;
  /** When the first attempt was sent, and when the response had arrived. */
  readonly from_ms: number;
  readonly to_ms: number;
}

const PAUSE_MS = 100;
const REQUEST_MAX_MS = 30_000;
/** A service that is started again responds within this time. */
const REPEATED_MAX_MS = 120_000;

export class Caller {
  readonly service: Service;
  readonly figures: Figures;
  /** Whether times count, which they do while nothing is killed. */
  is_measuring = false;

  constructor(service: Service, figures: Figures) {
    this.service = service;
    this.figures = figures;
  }

  /** Sends a request until it has a response that is no failure. @throws BrokenRule if it fails although nothing was killed */
  async ask(sent: Sent): Promise<Answer> {
    const from_ms = Date.now();
    const until_ms = performance.now() + REPEATED_MAX_MS;
    for (let attempt = 0; ; attempt += 1) {
      expectRule(performance.now() < until_ms, `${sent.method} ${sent.path} had no response`);
      const { lives, is_up } = this.service;
      const began_ms = performance.now();
      const answer = await this.#send(sent);
      const was_killed = !is_up || !this.service.is_up || lives !== this.service.lives;
      if (answer !== null && answer.status < 500) {
        if (this.is_measuring && !was_killed) this.figures.noteTime(performance.now() - began_ms);
        else this.figures.requests += 1;
        return { ...answer, is_repeated: attempt > 0, from_ms, to_ms: Date.now() };
      }
      const name = answer === null ? "no response" : String(answer.status);
      this.figures.countError(was_killed ? `${name} of a killed service` : name);
      const said =
        answer === null ? "no response" : `${answer.status} ${answer.text.slice(0, 300)}`;
      expectRule(was_killed, `${sent.method} ${sent.path}: ${said}, although nothing was killed`);
      await pause(PAUSE_MS);
    }
  }

  /** Repeats something that is not a single request for as long as the service is killed meanwhile. */
  async persist<Value>(act: () => Promise<Value>): Promise<Value> {
    for (;;) {
      const { lives, is_up } = this.service;
      try {
        return await act();
      } catch (error) {
        if (is_up && this.service.is_up && lives === this.service.lives) throw error;
        await pause(PAUSE_MS);
      }
    }
  }

  postForm(
    path: string,
    fields: URLSearchParams | Readonly<Record<string, string>>,
    proof: readonly string[] = [],
  ): Promise<Answer> {
    const body = new URLSearchParams(fields).toString();
    const headers = { "Content-Type": "application/x-www-form-urlencoded" };
    return this.ask({ method: "POST", path, proof, body, headers });
  }

  async #send(sent: Sent): Promise<Pick<Answer, "status" | "text" | "location" | "json"> | null> {
    const lines = sent.proof.map((line) => line.split(/: (.*)/s, 2) as [string, string]);
    const headers = {
      ...Object.fromEntries(lines),
      ...(typeof sent.body === "object" && { "Content-Type": "application/json" }),
      ...(sent.key !== undefined && { "Idempotency-Key": sent.key }),
      ...sent.headers,
    };
    const body = typeof sent.body === "object" ? JSON.stringify(sent.body) : sent.body;
    try {
      const response = await fetch(this.service.url + sent.path, {
        method: sent.method,
        headers,
        redirect: "manual",
        signal: AbortSignal.timeout(REQUEST_MAX_MS),
        ...(body !== undefined && { body }),
      });
      const text = await response.text();
      const location = response.headers.get("Location");
      return { status: response.status, text, location, json: parse(text) };
    } catch {
      return null;
    }
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
