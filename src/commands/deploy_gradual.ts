/**
 * `npm run deploy -- --gradual`: sends requests to a new version in steps, and takes it back if it fails. Meanwhile objects of both
 * versions run at once: Cloudflare gives each object one of the two, for as long as a step lasts.
 */
import * as z from "zod/mini";
import { metrics_reader } from "../config/settings.ts";
import { json } from "../config/values.ts";
import { createMetricsReader } from "../metrics/analytics_engine.ts";
import type { MetricsAccess } from "../domain/request_metrics.ts";
import { OBJECTIVES } from "../domain/error_budget.ts";
import { createDeployment, readActive, versionsOf } from "./deploy_versions.ts";
import { waitForVerdict } from "./deploy_readiness.ts";

/** Percent of requests. At 0, only the command's own requests reach the version, by a header. */
const STEPS = [0, 1, 10, 100] as const;

/** Checks of a step, and the pause before each, so that a step takes about five minutes: one window of the metrics. */
const CHECKS = 8;
const PAUSE_MS = 30_000;

/** Before the first check: a version younger than two minutes may not run with objects of an earlier one (`exerciseCanary`). */
const FIRST_PAUSES = 5;

/** Fewer failures of the new version decide nothing. */
const FAILED_MIN = 5;
/** A version fails at the fast burn rate of wallet and jobs, if it also fails this many times as often as the version before. */
const RATIO_MAX = 14.4 * (1 - OBJECTIVES.wallet_and_jobs.target);
const TIMES_EARLIER = 2;

/** The access of METRICS_READER, from the secrets' file or the environment; null: not set. @throws Error if it is wrong */
export function metricsAccess(settings: Readonly<Record<string, string | undefined>>) {
  const text = settings["METRICS_READER"];
  if (text === undefined) return null;
  const read = z.pipe(json, metrics_reader).safeParse(text);
  if (!read.success) throw new Error("METRICS_READER is not valid (docs/settings.md).");
  return read.data;
}

export interface Rollout {
  readonly base_url: string;
  readonly worker: string;
  /** The version that this run uploaded. */
  readonly own: string;
  /** The version that was live before. */
  readonly earlier: string;
  /** The id of the deployment that was live before. */
  readonly noted: string;
  readonly config_file: string;
  /** Null: METRICS_READER is not known here, so only the canary decides. */
  readonly metrics: MetricsAccess | null;
}

/** @throws Error after the version was taken back, or another deployment was found, with what happened and what to do next */
export async function rollOut(rollout: Rollout): Promise<string> {
  let deployment = rollout.noted;
  for (const percent of STEPS) {
    deployment = await advance(rollout, percent, deployment);
    process.stdout.write(`${percent}% … `);
    const fault = await watch(rollout, percent);
    if (fault === null) continue;
    throw new Error(
      `The new version failed at ${percent}% of requests: ${fault}.\n${await takeBack(rollout, deployment)}`,
    );
  }
  const unseen = "; METRICS_READER is not set here, so only the canary decided";
  return `live: version ${rollout.own}${rollout.metrics === null ? unseen : ""}`;
}

/** Gives the version a share of the requests. @returns the id of the new deployment */
async function advance(rollout: Rollout, percent: number, before: string): Promise<string> {
  const { own, earlier, config_file } = rollout;
  const active = await readActive(config_file);
  if (active?.id !== before) {
    throw new Error(
      `Another deployment was made meanwhile (${versionsOf(active)}), so this one stopped and changed nothing more.\n` +
        "Next: agree with the other operator which version is to be live, and see npx wrangler deployments list.",
    );
  }
  // In the same order each time, so that an object with the new version keeps it in the next step.
  const parts =
    percent === 100 ? [`${own}@100`] : [`${earlier}@${100 - percent}`, `${own}@${percent}`];
  await createDeployment(parts, `npm run deploy -- --gradual: ${percent}%`, config_file);
  const now = await readActive(config_file);
  const is_own = now?.versions.some((it) => it.version_id === own && it.percentage === percent);
  if (now === null || is_own !== true) {
    throw new Error(`Another deployment replaced this one at once (${versionsOf(now)}).`);
  }
  return now.id;
}

/** Watches a step. @returns what is wrong; null: nothing */
async function watch(rollout: Rollout, percent: number): Promise<string | null> {
  const { base_url, worker, own } = rollout;
  const header = { "Cloudflare-Workers-Version-Overrides": `${worker}="${own}"` };
  for (let pauses = percent === 0 ? FIRST_PAUSES : 0; pauses > 0; pauses -= 1) await pause();
  for (let check = 0; check < CHECKS; check += 1) {
    await pause();
    const verdict = await waitForVerdict(base_url, own, undefined, header);
    if (verdict.kind === "refused") return `/readyz is not ready: ${verdict.reason}`;
    if (verdict.kind === "absent") return `/readyz does not respond: ${verdict.last_response}`;
    if (verdict.kind === "other") return `version ${verdict.release ?? "unknown"} responds instead`;
    const share = await failingShare(rollout);
    if (share !== null) return share;
  }
  return null;
}

/** @returns how much more the version fails than the one before, in the last five minutes; null: not, or not known */
async function failingShare({ metrics, own, earlier }: Rollout): Promise<string | null> {
  if (metrics === null) return null;
  const traffic = await createMetricsReader(metrics)
    .readTraffic?.(Date.now())
    .catch(() => null);
  if (!traffic) {
    process.stdout.write("(the metrics are not readable now) ");
    return null;
  }
  const countOf = (version: string) => {
    const its = traffic.filter(({ release }) => release === version);
    const failed = its.reduce((sum, it) => sum + (it.failed[0] ?? 0), 0);
    const requests = its.reduce((sum, it) => sum + (it.requests[0] ?? 0), 0);
    return { failed, ratio: failed / Math.max(requests, 1) };
  };
  const [of_own, of_earlier] = [countOf(own), countOf(earlier)];
  const limit = Math.max(RATIO_MAX, TIMES_EARLIER * of_earlier.ratio);
  if (of_own.failed <= FAILED_MIN || of_own.ratio <= limit) return null;
  const percent = (ratio: number): string => `${(100 * ratio).toFixed(2)}%`;
  return `${percent(of_own.ratio)} of its requests got status 5xx (${percent(of_earlier.ratio)} of the version before)`;
}

/** Takes back only what this run deployed. @returns what happened, and what to do next */
async function takeBack(rollout: Rollout, deployment: string): Promise<string> {
  const { own, earlier, config_file } = rollout;
  const active = await readActive(config_file).catch(() => null);
  if (active?.id !== deployment) {
    return `It was not taken back, because another deployment is live now (${versionsOf(active)}).
Next: agree with the other operator which version is to be live, and see npx wrangler deployments list.`;
  }
  const message = `npm run deploy -- --gradual: took back ${own}`;
  try {
    // Objects that run the bad version must not continue with it for minutes.
    const at_once = "--durable-objects-code-update-mode=immediate";
    await createDeployment([`${earlier}@100`], message, config_file, at_once);
  } catch (error) {
    return `It still has its share of the requests, because it could not be taken back: ${error instanceof Error ? error.message : String(error)}
Next: npx wrangler versions deploy ${earlier}@100% --yes --config ${config_file}`;
  }
  return `All requests go to version ${earlier} again. D1 migrations stay; they only add, so earlier code works.
Next: find the cause in the log (docs/operate.md, "Releases"), fix it, and run the same command again.`;
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, PAUSE_MS);
  });
}
