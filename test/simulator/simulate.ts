/**
 * `npm run simulate`: runs the service in this process, with faults, and checks its rules after each step. A failure prints
 * its seed and a shortened history, and ends with code 1.
 */
import { parseArgs } from "node:util";
import { faultNamed } from "../faults/faults.ts";
import { loadSource } from "./platform/modules.ts";

const USAGE = `npm run simulate -- [options]
  --seed N       the first seed (1)
  --seeds K      so many seeds, one after another (1)
  --seconds S    seeds one after another until the time is over; with --seed fresh, from a random one
  --steps M      steps of each seed (50000)
  --accounts A   accounts that are used at the same time (4)
  --histories K  so many short histories of credits with terms instead, each a seed of one account
  --fault NAME   puts a fault of test/faults into the code first
  --raw          prints the whole history of a failure instead of a shortened one`;

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    seeds: { type: "string", default: "1" },
    seconds: { type: "string" },
    steps: { type: "string", default: "50000" },
    accounts: { type: "string", default: "4" },
    histories: { type: "string" },
    fault: { type: "string" },
    raw: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(USAGE);
  process.exit();
}

const numberOf = (name: string, text: string): number => {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  console.error(`--${name} must be a whole number, not ${text}\n\n${USAGE}`);
  process.exit(2);
};
const first =
  values.seed === "fresh" ? Math.floor(Math.random() * 1e9) : numberOf("seed", values.seed);
const steps = numberOf("steps", values.steps);
const accounts = numberOf("accounts", values.accounts);
const histories = values.histories === undefined ? null : numberOf("histories", values.histories);
const seconds = values.seconds === undefined ? null : numberOf("seconds", values.seconds);
const seeds =
  histories ?? (seconds === null ? numberOf("seeds", values.seeds) : Number.POSITIVE_INFINITY);

/** So long that most histories have some lots, jobs and turns of a plan. */
const STEPS_OF_HISTORY = 100;

loadSource(values.fault === undefined ? [] : faultNamed(values.fault).changes);
// After the hooks, so that they load it.
const { simulate } = await import("./run.ts");
const { shorten } = await import("./shorten.ts");
const { print, wallClock } = await import("./platform/globals.ts");

const began_ms = wallClock();
let steps_in_all = 0;
for (let seed = first; seed < first + seeds; seed += 1) {
  if (seconds !== null && wallClock() - began_ms > seconds * 1_000) break;
  const options =
    histories === null
      ? { seed, steps, accounts }
      : { seed, steps: STEPS_OF_HISTORY, accounts: 1, on_terms: true };
  const result = await simulate(options);
  steps_in_all += result.steps;
  const { failure, hash, actions } = result;
  if (failure === null && histories !== null) continue;
  if (failure === null) {
    print(`seed ${seed}: ${result.steps} steps, ${actions} actions, history ${hash}`);
    continue;
  }
  print(`seed ${seed} failed at step ${failure.at_step}: ${failure.rule}\n`);
  const shown = values.raw ? result : await shorten(options, result);
  print(
    `${shown.actions_taken.length} of ${actions} actions suffice. The last of their history:\n`,
  );
  print(shown.history.join("\n"));
  const run = histories === null ? `--steps ${steps} --accounts ${accounts}` : "--histories 1";
  print(`\nrepeat with: npm run simulate -- --seed ${seed} ${run}`);
  print(JSON.stringify(result.faults));
  process.exit(1);
}
if (histories !== null) print(`seeds ${first} to ${first + histories - 1}: no rule was broken`);
const minutes = (wallClock() - began_ms) / 60_000;
print(`${steps_in_all} steps, ${Math.round(steps_in_all / minutes)} a minute`);
