/**
 * `npm run load`: requests arrive at a planned rate, whatever became of the earlier ones, from accounts of which some
 * sleep; then three times the rate that the machine sustains, from many accounts and from one; then the first rate again.
 * Everything that was accepted is checked, and PostgreSQL gets the same plan. `--accounts 100000 --rate 500 --seconds 60`
 * are the defaults. `--seed 1` chooses the plan, and `--storage disk` keeps all stores on disk instead of in memory.
 * Exits with 1 if a rule does not hold.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { whyNoCluster } from "../bench/cluster.ts";
import { startContenders, type Contender } from "../bench/contenders.ts";
import { runSettings } from "../bench/settings.ts";
import { Callers } from "./callers.ts";
import { ACCOUNTS_MIN, measurePassbook, measurePeer, say, type Options } from "./phases.ts";
import { report } from "./report.ts";
import { rulesBroken } from "./rules.ts";
import { Service } from "./service.ts";

const { values } = parseArgs({
  options: {
    accounts: { type: "string", default: "100000" },
    rate: { type: "string", default: "500" },
    seconds: { type: "string", default: "60" },
    seed: { type: "string", default: "1" },
    storage: { type: "string", default: "memory" },
  },
});
const options: Options = {
  accounts: Number(values.accounts),
  rate: Number(values.rate),
  seconds: Number(values.seconds),
  seed: Number(values.seed),
  storage: values.storage,
};

async function run(contenders: readonly Contender[], signing_keys: string): Promise<void> {
  const [passbook, peer] = contenders;
  if (passbook === undefined) throw new Error("Passbook did not start");
  const callers = new Callers(signing_keys, `http://127.0.0.1:${passbook.port}`);
  const services = [passbook, ...(peer === undefined ? [] : [peer])].map(
    (contender) => new Service(contender, callers),
  );
  const [own, others] = services;
  try {
    if (own === undefined) return;
    const measured = await measurePassbook(own, callers, options);
    report(measured, others === undefined ? null : await measurePeer(others, options));
    const broken = rulesBroken(measured);
    for (const rule of broken) console.log(`broken: ${rule}`);
    if (broken.length === 0) console.log("every rule held");
    else process.exitCode = 1;
  } finally {
    for (const service of services) service.stop();
  }
}

if (!(options.accounts >= ACCOUNTS_MIN && options.rate > 0 && options.seconds > 0)) {
  throw new Error(`--accounts must be at least ${ACCOUNTS_MIN}, --rate and --seconds above 0`);
}
const missing = whyNoCluster();
if (missing !== null) console.log(missing);
mkdirSync(".wrangler", { recursive: true });
const builds = mkdtempSync(resolve(".wrangler", "load-"));
const root = options.storage === "disk" ? tmpdir() : "/dev/shm";
const directory = mkdtempSync(join(root, "passbook-load-"));
// PostgreSQL runs as another user, who must be able to reach the folder below this one.
chmodSync(directory, 0o755);
// A signal must also stop the processes that were started.
const stopped = new Promise<never>((_, reject) => {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => reject(new Error(`stopped by ${signal}`)));
  }
});
stopped.catch(() => null);
try {
  say("building");
  const settings = await runSettings();
  const others = missing === null ? (["peer"] as const) : [];
  const contenders = await startContenders(
    { directory, builds, settings, around: "limited.js" },
    others,
  );
  try {
    await Promise.race([run(contenders, settings["SIGNING_KEYS"] ?? ""), stopped]);
  } finally {
    for (const contender of contenders) await contender.stop();
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
  rmSync(builds, { recursive: true, force: true });
}
