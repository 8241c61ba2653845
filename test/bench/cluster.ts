/** A PostgreSQL cluster for one run, on loopback, owned by a user other than root. */
import { execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../src/commands/local_worker.ts";

const PROGRAMS = "/usr/lib/postgresql/15/bin";

/** How to install what is missing; null if nothing is missing. */
export function whyNoCluster(): string | null {
  return existsSync(join(PROGRAMS, "postgres"))
    ? null
    : "PostgreSQL 15 is not here, so its rows are left out: apt-get install postgresql-15";
}

export interface Cluster {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** PostgreSQL refuses to run as root, and Debian's package creates a user for it. */
function ownerOf(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string): number =>
    Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

/** Creates and starts a cluster in `directory`, with Debian's default settings. */
export async function startCluster(directory: string): Promise<Cluster> {
  const owner = ownerOf();
  mkdirSync(directory, { recursive: true });
  if (owner.uid !== undefined && owner.gid !== undefined) {
    chownSync(directory, owner.uid, owner.gid);
  }
  const data = join(directory, "data");
  const options = { ...owner, cwd: directory } as const;
  execFileSync(
    join(PROGRAMS, "initdb"),
    ["-D", data, "-U", "bench", "--auth=trust", "--encoding=UTF8", "--locale=C"],
    { ...options, stdio: "ignore" },
  );
  const port = await freePort();
  const server = spawn(
    join(PROGRAMS, "postgres"),
    ["-D", data, "-h", "127.0.0.1", "-p", String(port), "-k", directory],
    { ...options, stdio: "ignore" },
  );
  const ended = new Promise((resolve) => server.once("exit", resolve));
  const isReady = (): boolean => {
    try {
      execFileSync(join(PROGRAMS, "pg_isready"), ["-h", "127.0.0.1", "-p", String(port)]);
      return true;
    } catch {
      return false;
    }
  };
  for (let attempt = 0; !isReady(); attempt += 1) {
    if (attempt > 100) throw new Error("PostgreSQL did not start");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    url: `postgres://bench@127.0.0.1:${port}/postgres`,
    pid: server.pid ?? 0,
    async stop() {
      // Requests a fast shutdown, which does not wait for clients.
      server.kill("SIGINT");
      await ended;
    },
  };
}
