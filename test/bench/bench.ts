/**
 * `npm run bench`: compares Passbook with two other services that do the same work on this machine: the platform's floor,
 * and a service on PostgreSQL. All run at the same time and are measured in turn in short bursts, so
 * that other load on the machine affects all of them. Only ratios are comparable between machines. `--quick` takes under two
 * minutes, `--storage disk` keeps all stores on disk instead of in memory, `--only wallet,life` measures some kinds of work,
 * `--accounts hot` only busy accounts, without waiting until others sleep, and `--rounds 3` fewer rounds.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { FULL, QUICK, type Plan } from "./cells.ts";
import { whyNoCluster } from "./cluster.ts";
import { startContenders, type ContenderName } from "./contenders.ts";
import { Measurement } from "./measurement.ts";
import { prepareCrowd } from "./crowd.ts";
import { report } from "./report.ts";
import { runSettings } from "./settings.ts";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    storage: { type: "string", default: "memory" },
    only: { type: "string" },
    accounts: { type: "string" },
    rounds: { type: "string" },
  },
});

function planned(): Plan {
  const plan = values.quick ? QUICK : FULL;
  const only = values.only?.split(",");
  const blocks =
    only === undefined
      ? plan.blocks
      : plan.blocks.filter(({ works }) => works.some((work) => only.includes(work)));
  const measured = blocks.map(({ works, variants }) => ({
    works,
    variants: variants.filter(
      ({ accounts }) => values.accounts === undefined || values.accounts === accounts,
    ),
  }));
  const rounds = values.rounds === undefined ? plan.rounds : Number(values.rounds);
  return { ...plan, blocks: measured, rounds };
}

const plan = planned();
const missing = whyNoCluster();
if (missing !== null) console.log(missing);
mkdirSync(".wrangler", { recursive: true });
const builds = mkdtempSync(resolve(".wrangler", "bench-"));
const root = values.storage === "disk" ? tmpdir() : "/dev/shm";
const directory = mkdtempSync(join(root, "passbook-bench-"));
// PostgreSQL runs as another user, who must be able to reach the folder below this one.
chmodSync(directory, 0o755);
const started_ms = performance.now();
// A signal must also stop the PostgreSQL cluster, which would otherwise keep running.
const stopped = new Promise<never>((_, reject) => {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => reject(new Error(`stopped by ${signal}`)));
  }
});
stopped.catch(() => null);
try {
  const settings = await runSettings();
  const others: readonly ContenderName[] = missing === null ? ["floor", "peer"] : ["floor"];
  const contenders = await startContenders(
    { directory, builds, settings, around: "unlimited.js" },
    others,
  );
  try {
    const crowd = await Promise.race([prepareCrowd(contenders, plan), stopped]);
    const measurement = new Measurement(contenders, crowd);
    try {
      for (const block of plan.blocks) await Promise.race([measurement.run(block, plan), stopped]);
    } finally {
      measurement.stop();
    }
    const machine = `${cpus().length} × ${cpus()[0]?.model ?? "processor"}, Node ${process.version}`;
    const seconds = Math.round((performance.now() - started_ms) / 1000);
    report(measurement.cells, {
      title: `${values.storage === "disk" ? "disk" : "memory"}${values.quick ? ", quick" : ""}`,
      conditions:
        `${machine}; stores ${values.storage === "disk" ? "on disk" : "in memory"}; ` +
        `16 connections; many accounts are ${plan.people}; ` +
        `${plan.rounds} rounds of ${plan.burst_ms} ms; ${seconds} s in all`,
    });
  } finally {
    for (const contender of contenders) await contender.stop();
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
  rmSync(builds, { recursive: true, force: true });
}
