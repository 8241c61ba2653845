/**
 * The work that was accepted, and the check of it through the public API: each account that was used is read, and each
 * creation without a success is repeated with its key.
 */
import { Connection, requestBytes, type HttpResponse } from "../bench/connection.ts";
import { faultOf, type ListedEntry } from "../bench/listed_entries.ts";
import { pause } from "../bench/pause.ts";
import type { Arrival } from "./arrivals.ts";
import type { Callers } from "./callers.ts";
import { bytesOf, JOB_CREDITS, NOT_SENT, type Outcome } from "./requests.ts";

const STARTER_CREDITS = 1_000_000;
const PAGE = 200;
const AT_ONCE = 32;
/** A request beyond the rate limit is repeated after this time, as the response says. */
const LIMITED_PAUSE_MS = 10_000;
const LIMITED_ATTEMPTS = 30;
/** So many accounts get their tokens at once, so that none expires before its turn. */
const PORTION = 2_000;
const BROKEN_MAX = 20;

interface Creation {
  readonly arrival: Arrival;
  /** Null: it had no success, so it may or may not have happened. */
  readonly job_id: string | null;
}

interface Entry extends ListedEntry {
  readonly kind: string;
  readonly job_id: string | null;
}

export class Books {
  readonly #creations = new Map<number, Creation[]>();
  /** The rules that do not hold. */
  readonly broken: string[] = [];
  accounts = 0;
  jobs = 0;
  /** Creations that were repeated although, or because, they had no success. */
  repeated = { accepted: 0, others: 0 };

  /** Notes what was sent and what became of it. */
  note(arrivals: readonly Arrival[], { statuses, job_ids }: Outcome): void {
    for (const [index, arrival] of arrivals.entries()) {
      const creations = this.#creations.get(arrival.account) ?? [];
      this.#creations.set(arrival.account, creations);
      // A request beyond the rate limit changed nothing, so its job must not exist.
      const was_done = ![NOT_SENT, 429].includes(statuses[index] ?? NOT_SENT);
      if (arrival.kind !== "create" || !was_done) continue;
      creations.push({ arrival, job_id: job_ids.get(index) ?? null });
    }
  }

  /** Checks every account that was used. */
  async check(port: number, callers: Callers): Promise<void> {
    const all = [...this.#creations];
    for (let first = 0; first < all.length; first += PORTION) {
      const portion = all.slice(first, first + PORTION);
      const tokens = await callers.tokensOf(portion.map(([account]) => account));
      const workers = Array.from({ length: AT_ONCE }, async () => {
        let connection = await Connection.open(port);
        for (let next = portion.pop(); next !== undefined; next = portion.pop()) {
          const [account, creations] = next;
          if (!connection.is_open) connection = await Connection.open(port);
          try {
            const reader = new Reader(connection, tokens.get(account) ?? "");
            await this.#checkAccount(account, creations, reader);
          } catch (error) {
            this.#expect(false, `account ${account} cannot be read: ${String(error)}`);
          }
        }
        connection.close();
      });
      await Promise.all(workers);
      process.stderr.write(`\rchecked ${this.accounts} of ${all.length} accounts`);
    }
    process.stderr.write("\n");
  }

  #expect(holds: boolean, rule: string): void {
    if (!holds && this.broken.length < BROKEN_MAX) this.broken.push(rule);
  }

  async #checkAccount(account: number, creations: readonly Creation[], reader: Reader) {
    this.accounts += 1;
    const ids = await this.#repeat(account, creations, reader);
    const where = `account ${account}`;
    const { credits, held } = await reader.wallet();
    const reserved = ids.size * JOB_CREDITS;
    this.#expect(
      held === reserved,
      `${where} holds ${held} and not ${reserved} for ${ids.size} jobs`,
    );
    this.#expect(
      credits + held === STARTER_CREDITS,
      `${where} has ${credits} and ${held} held, which is not ${STARTER_CREDITS}`,
    );
    if (creations.length === 0) return;
    this.jobs += ids.size;
    const jobs = await reader.all("/api/jobs", "jobs");
    this.#expectSame(
      ids,
      jobs.map(({ id }) => String(id)),
      `the list of ${where}`,
    );
    const entries = (await reader.all("/api/ledger", "entries")) as unknown as Entry[];
    const reserves = entries.filter(({ kind }) => kind === "reserve");
    this.#expectSame(
      ids,
      reserves.map(({ job_id }) => String(job_id)),
      `the ledger of ${where}`,
    );
    const fault = faultOf(entries);
    this.#expect(fault === null, `the ledger of ${where} adds up: ${fault}`);
    const balance = entries[0]?.balance_after ?? 0;
    this.#expect(
      balance === credits,
      `the ledger of ${where} ends with ${balance}, not ${credits}`,
    );
  }

  /** Repeats the creations without a success and one of the others. @returns the ids of all jobs */
  async #repeat(account: number, creations: readonly Creation[], reader: Reader) {
    const ids = new Set<string>();
    const last = creations.findLast(({ job_id }) => job_id !== null);
    for (const creation of creations) {
      const { arrival, job_id } = creation;
      if (job_id !== null) {
        this.#expect(!ids.has(job_id), `job ${job_id} of account ${account} was created twice`);
        ids.add(job_id);
      }
      if (job_id !== null && creation !== last) continue;
      const again = await reader.create(arrival);
      const same = job_id === null ? again.id !== "" : again.id === job_id;
      const said = `${again.status} ${again.id}`;
      this.#expect(same, `creation ${arrival.number} of account ${account}, repeated: ${said}`);
      this.repeated[job_id === null ? "others" : "accepted"] += 1;
      ids.add(again.id);
    }
    return ids;
  }

  #expectSame(ids: ReadonlySet<string>, found: readonly string[], where: string): void {
    const unknown = found.filter((id) => !ids.has(id));
    this.#expect(unknown.length === 0, `${where} has a job that nobody created: ${unknown[0]}`);
    this.#expect(new Set(found).size === found.length, `${where} has a job twice`);
    this.#expect(found.length >= ids.size, `${where} has ${found.length} of ${ids.size} jobs`);
  }
}

/** Reads one account. */
class Reader {
  readonly #connection: Connection;
  readonly #token: string;

  constructor(connection: Connection, token: string) {
    this.#connection = connection;
    this.#token = token;
  }

  async create(arrival: Arrival): Promise<{ readonly status: number; readonly id: string }> {
    const { status, body } = await this.#ask(bytesOf(arrival, this.#token));
    const { job_id = "" } = status === 200 ? (JSON.parse(body) as { job_id?: string }) : {};
    return { status, id: job_id };
  }

  async wallet(): Promise<{ readonly credits: number; readonly held: number }> {
    const { account, held } = await this.#read("/api/wallet");
    return { credits: (account as { credits: number }).credits, held: held as number };
  }

  /** Every page of a list. */
  async all(path: string, member: string): Promise<readonly Record<string, unknown>[]> {
    const rows: Record<string, unknown>[] = [];
    for (let cursor: string | undefined = ""; cursor !== undefined;) {
      const query: string = cursor === "" ? "" : `&cursor=${cursor}`;
      const page = await this.#read(`${path}?limit=${PAGE}${query}`);
      rows.push(...(page[member] as Record<string, unknown>[]));
      cursor = page["next_cursor"] as string | undefined;
    }
    return rows;
  }

  async #ask(request: Buffer): Promise<HttpResponse> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await this.#connection.ask(request);
      if (response.status !== 429 || attempt === LIMITED_ATTEMPTS) return response;
      await pause(LIMITED_PAUSE_MS);
    }
  }

  async #read(path: string): Promise<Record<string, unknown>> {
    const proof = `Authorization: Bearer ${this.#token}`;
    const { status, body } = await this.#ask(requestBytes("GET", path, [proof], null));
    if (status !== 200) throw new Error(`${path} responded with ${status}: ${body.slice(0, 300)}`);
    return JSON.parse(body) as Record<string, unknown>;
  }
}
