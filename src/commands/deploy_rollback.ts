/** Checks a release after it went live, and takes it back if it is not ready. */
import { waitForVerdict, type Verdict } from "./deploy_readiness.ts";
import { mainVersion, readActive } from "./deploy_versions.ts";
import { runWrangler } from "./wrangler_run.ts";
import { CONFIG_FILE } from "./wrangler_config.ts";

/** The version that serves most requests now; null if the Worker was never deployed. */
const readLiveVersion = async (config_file: string): Promise<string | null> =>
  mainVersion(await readActive(config_file));

export interface Release {
  readonly base_url: string;
  /** The version that this run uploaded. */
  readonly own: string;
  /** The version that was live before; null on a first deployment. */
  readonly earlier: string | null;
  readonly config_file: string;
}

/** Waits until the new release is ready. @throws Error after a rollback, with what happened and what to do next */
export async function confirmRelease(release: Release): Promise<string> {
  const { base_url, own, earlier } = release;
  const verdict = await waitForVerdict(base_url, own);
  if (verdict.kind === "ready") {
    return ["ready", ...verdict.warnings.map((name) => `warning: ${name} does not work`)].join(
      "; ",
    );
  }
  if (verdict.kind === "absent") throw new Error(absence(base_url, verdict.last_response));
  if (verdict.kind === "other") throw new Error(await otherRelease(release, verdict.release));
  const refusal = `The new release is not ready: ${verdict.reason}.`;
  if (earlier === null) {
    throw new Error(`${refusal}
This is the first deployment, so there is no earlier version to roll back to.
${CAUSES}`);
  }
  const live = await readLiveVersion(release.config_file).catch(() => null);
  if (live !== own) {
    throw new Error(`${refusal}
It was not rolled back, because ${live === null ? "Cloudflare did not say which version is live" : `version ${live} is live now, which another deployment made`}.
Next: see npx wrangler deployments list, and agree with the other operator which version is to be live.`);
  }
  throw new Error(`${refusal}\n${await rollBack(release, earlier)}`);
}

const CAUSES =
  'Next: find the cause in the log (docs/operate.md, "Releases"), fix it, and run the same command again. If all checks\n' +
  "fail, a setting is wrong.";

/** @returns what happened, and what to do next */
async function rollBack({ base_url, config_file }: Release, version: string): Promise<string> {
  console.log(`Not ready. Rolling back to version ${version} …`);
  const { succeeded, error } = await runWrangler([
    "rollback",
    version,
    "--yes",
    "--message=Rolled back by npm run deploy: /readyz was not ready",
    // Objects that run the bad release must not continue with it for minutes.
    "--durable-objects-code-update-mode=immediate",
    `--config=${config_file}`,
  ]);
  if (!succeeded) {
    const config = config_file === CONFIG_FILE ? "" : ` --config ${config_file}`;
    return `It is still live, because the rollback failed: ${error}
Next: roll back by hand: npx wrangler rollback ${version} --yes${config}
If Cloudflare refuses that too, deploy a fixed release.`;
  }
  const after = await waitForVerdict(base_url, version, Infinity);
  return `Rolled back to version ${version}, which was live before. ${stateAfter(after)}
Code, settings and secrets are those of that version. Not rolled back: D1 migrations (they only add, so earlier code
works), accounts that the new release has migrated, databases and queues, routes, the schedule, and new secrets, which
stay stored for the next deployment.
${CAUSES}`;
}

function stateAfter(verdict: Verdict): string {
  switch (verdict.kind) {
    case "ready":
      return "It is ready.";
    case "refused":
      return `It is not ready either: ${verdict.reason}. The cause may be outside the release, for example a database.`;
    case "absent":
      return `It does not respond: ${verdict.last_response}.`;
    case "other":
      return "Cloudflare has not sent it to all locations yet: another version responds.";
  }
}

/** Another version responds: either Cloudflare is slow, or another deployment made it live. */
async function otherRelease(
  { base_url, own, config_file }: Release,
  responding: string | null,
): Promise<string> {
  const live = await readLiveVersion(config_file).catch(() => null);
  const cause =
    live === null || live === own
      ? "Cloudflare may take longer than usual to send it to all locations."
      : `Version ${live} is live now, which another deployment made.`;
  return `The new release, version ${own}, did not respond at ${base_url}/readyz; version ${responding ?? "unknown"} did. ${cause}
Nothing was rolled back. Next: see npx wrangler deployments list, and run the same command again.`;
}

function absence(base_url: string, last_response: string): string {
  return `No response from Passbook at ${base_url}/readyz (last: ${last_response}).
The new release is live and was not rolled back, because nothing shows that it is the cause. Check:
  * the DNS record and the certificate of the host: a new custom domain needs some minutes
  * the routes in the configuration file: one of them must be the host of BASE_URL
  * firewall rules and Cloudflare Access: /readyz must be public
Then run the same command again.`;
}
