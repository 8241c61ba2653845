/** The measured kinds of work, their accounts, and the caller's credentials. */
import type { ContenderName } from "./contenders.ts";
import type { Work } from "./load.ts";

/** A kind of account and the caller's credentials. */
export interface Variant {
  readonly name: string;
  /** One active account, or many in turn, which are asleep or awake. */
  readonly accounts: "hot" | "asleep" | "awake";
  readonly jobs_behind: number;
  readonly proof: "session" | "cookie" | "personal";
  /** The contenders that are measured with it. The others support one kind of credentials only. */
  readonly contenders: readonly ContenderName[];
}

const ALL = ["passbook", "floor", "peer"] as const;
const HOT = { accounts: "hot", jobs_behind: 0, proof: "session", contenders: ALL } as const;

export const BASE: Variant = { ...HOT, name: "one account" };
const ASLEEP: Variant = { ...HOT, name: "many, asleep", accounts: "asleep" };
const AWAKE: Variant = { ...HOT, name: "many, awake", accounts: "awake" };
const OLD: Variant = { ...HOT, name: "10⁴ jobs behind", jobs_behind: 10_000 };
const ANCIENT: Variant = { ...HOT, name: "10⁶ jobs behind", jobs_behind: 1_000_000 };
const COOKIE: Variant = { ...HOT, name: "by cookie", proof: "cookie", contenders: ["passbook"] };
const PERSONAL: Variant = {
  ...HOT,
  name: "by personal token",
  proof: "personal",
  contenders: ["passbook"],
};

/** Batches of a hundred jobs, on one account. The other contenders have no batches. */
const BATCHED: Variant = { ...BASE, contenders: ["passbook"] };

/** Kinds of work whose bursts follow each other: the second completes what the first created. */
export interface Block {
  readonly works: readonly Work[];
  readonly variants: readonly Variant[];
}

const QUICK_VARIANTS = [BASE, ASLEEP, AWAKE];
const ALL_VARIANTS = [BASE, ASLEEP, AWAKE, OLD, ANCIENT, COOKIE, PERSONAL];

/** The measurements of a run. */
export interface Plan {
  readonly blocks: readonly Block[];
  readonly rounds: number;
  readonly burst_ms: number;
  readonly people: number;
}

const WORKS: readonly (readonly Work[])[] = [
  ["wallet"],
  ["create", "complete"],
  ["list"],
  ["life"],
];

function blocksOf(variants: readonly Variant[]): readonly Block[] {
  const batches: Block = { works: ["create_batch", "complete_batch"], variants: [BATCHED] };
  return [...WORKS.map((works) => ({ works, variants })), batches];
}

export const FULL: Plan = {
  blocks: blocksOf(ALL_VARIANTS),
  rounds: 7,
  burst_ms: 1_000,
  people: 1_000,
};
export const QUICK: Plan = {
  blocks: blocksOf(QUICK_VARIANTS),
  rounds: 2,
  burst_ms: 400,
  people: 30,
};
