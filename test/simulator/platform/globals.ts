/** The platform's globals, on the virtual clock and the random source of the run. */
import { createHash, createHmac } from "node:crypto";
import type { Kernel } from "./kernel.ts";

/** Answers a request of the simulated code. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

interface Timer {
  is_cancelled: boolean;
}

type Logged = (level: "warn" | "error", line: unknown) => void;

let kernel: Kernel;
let answer: Fetch;
let logged: Logged;

/** The console of this process: the simulated code's goes to the run. */
export const print = console.log.bind(console);
export const printError = console.error.bind(console);
/** The clock of this process, in milliseconds. */
export const wallClock = performance.now.bind(performance);

/** From now on the globals are those of this run. */
export function useGlobals(run: { kernel: Kernel; fetch: Fetch; logged: Logged }): void {
  kernel = run.kernel;
  answer = run.fetch;
  logged = run.logged;
}

function setTimer(run: () => void, delay_ms = 0): Timer {
  const timer: Timer = { is_cancelled: false };
  kernel.schedule(delay_ms, kernel.current, () => {
    if (!timer.is_cancelled) run();
  });
  return timer;
}

interface Key {
  readonly bytes: Uint8Array;
}

/** Only what Passbook's objects use. Its promises are settled at once, because real ones would be in no certain order. */
const subtle = {
  importKey: (_format: string, bytes: Uint8Array): Promise<Key> => Promise.resolve({ bytes }),
  sign: (_algorithm: string, key: Key, data: Uint8Array): Promise<Uint8Array> =>
    Promise.resolve(new Uint8Array(createHmac("sha256", key.bytes).update(data).digest())),
  digest: (_algorithm: string, data: Uint8Array): Promise<Uint8Array> =>
    Promise.resolve(new Uint8Array(createHash("sha256").update(data).digest())),
};

const cryptography = {
  subtle,
  randomUUID: (): string => kernel.random.uuid(),
  getRandomValues: (into: Uint8Array): Uint8Array => {
    kernel.random.bytes(into);
    return into;
  },
};

/** Replaces the globals of this process. */
export function replaceGlobals(): void {
  const define = (name: string, value: unknown): void => {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  };
  Date.now = () => kernel.machine_ms;
  Math.random = () => kernel.random.next();
  define("crypto", cryptography);
  define("setTimeout", setTimer);
  define("clearTimeout", (timer: Timer | null | undefined) => {
    if (timer !== null && timer !== undefined) timer.is_cancelled = true;
  });
  define("fetch", (url: string, init: RequestInit) => answer(url, init));
  console.log = console.info = () => undefined;
  console.warn = (line: unknown) => logged("warn", line);
  console.error = (line: unknown) => logged("error", line);
}
