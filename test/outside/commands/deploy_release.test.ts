/** `npm run deploy` after a release went live: it keeps the release or rolls it back. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openCloudflare, type CloudflareDouble, type Readiness } from "./cloudflare_double.ts";
import { deployTo, HOST, NOT_READY, PATIENCE_MS, READY, writeSmallWorker } from "./deploy_run.ts";

describe("npm run deploy with a release that is not ready", { tags: ["slow"] }, () => {
  let cloudflare: CloudflareDouble;
  let folder: string;
  let config: string;
  const release = (...responses: readonly Readiness[]) => {
    cloudflare.ready(...responses);
    return deployTo(cloudflare, config, "--discard-secrets");
  };
  beforeEach(async () => {
    cloudflare = await openCloudflare();
    folder = await mkdtemp(join(tmpdir(), "passbook-release-test-"));
    config = await writeSmallWorker(folder);
  });
  afterEach(async () => {
    await cloudflare.close();
    await rm(folder, { recursive: true, force: true });
  });

  it(
    "a release that is not ready is rolled back to the version before it, and the command fails",
    async () => {
      cloudflare.deployEarlier(READY);
      const earlier = cloudflare.deployEarlier(READY);
      // The earlier version still responds for long at first, and sometimes in between.
      const early = { ...READY, release: earlier };
      const run = await release(early, early, early, early, early, NOT_READY, early, NOT_READY);
      expect(run.code).toBe(1);
      expect(cloudflare.versions).toHaveLength(3);
      expect(cloudflare.live()).toBe(earlier);
      // No object continues with the bad release.
      expect(cloudflare.rollbacks).toEqual([
        expect.objectContaining({ code_update_strategy: { mode: "immediate" } }),
      ]);
      expect(run.said).toContain("The new release is not ready: account.");
      expect(run.said).toContain(
        `Rolled back to version ${earlier}, which was live before. It is ready.`,
      );
      expect(run.said).toMatch(/Not rolled back: D1 migrations .* new secrets/s);
      expect(run.said).toContain("Next: ");
      expect(run.said).not.toContain("Passbook is live");
    },
    PATIENCE_MS,
  );

  it(
    "a release that does not respond is not called ready because the version before it is",
    async () => {
      const earlier = cloudflare.deployEarlier(READY);
      const run = await release({ ...READY, release: earlier });
      expect(run.code).toBe(1);
      expect(run.said).toContain(
        `did not respond at https://${HOST}/readyz; version ${earlier} did.`,
      );
      expect(run.said).toContain("Nothing was rolled back.");
      expect(cloudflare.live()).toBe(cloudflare.versions[1]);
    },
    PATIENCE_MS,
  );

  it(
    "a release that is not ready is not rolled back once another deployment has replaced it",
    async () => {
      cloudflare.deployEarlier(READY);
      let other = "";
      const after = () => void (other = cloudflare.deployEarlier(READY));
      const run = await release(NOT_READY, NOT_READY, NOT_READY, { ...NOT_READY, after });
      expect(run.code).toBe(1);
      expect(run.said).toContain(`version ${other} is live now, which another deployment made`);
      expect(cloudflare.rollbacks).toEqual([]);
      expect(cloudflare.live()).toBe(other);
    },
    PATIENCE_MS,
  );

  it(
    "a first release that is not ready stays live, because there is no version to roll back to",
    async () => {
      const run = await release(NOT_READY);
      expect(run.code).toBe(1);
      expect(run.said).toContain("The new release is not ready: account.");
      expect(run.said).toContain("This is the first deployment");
      expect(cloudflare.live()).toBe(cloudflare.versions[0]);
    },
    PATIENCE_MS,
  );

  it(
    "a release that cannot start is rolled back, and a version before it that is not ready either is reported",
    async () => {
      const earlier = cloudflare.deployEarlier(NOT_READY);
      // Cloudflare's own page.
      const run = await release({ status: 500, body: "", sender: "firewall" });
      expect(run.code).toBe(1);
      expect(run.said).toContain("The new release is not ready: status 500.");
      expect(run.said).toContain("It is not ready either: account.");
      expect(cloudflare.live()).toBe(earlier);
    },
    PATIENCE_MS,
  );

  it(
    "a failed rollback prints the command that rolls back by hand",
    async () => {
      const earlier = cloudflare.deployEarlier(READY);
      cloudflare.fail(/^POST \S+\/deployments$/);
      const run = await release(NOT_READY);
      expect(run.code).toBe(1);
      expect(run.said).toContain("told to fail");
      expect(run.said).toContain(`npx wrangler rollback ${earlier} --yes --config ${config}`);
      expect(cloudflare.live()).toBe(cloudflare.versions[1]);
    },
    PATIENCE_MS,
  );

  it(
    "a release is not rolled back while nothing, a firewall or another site responds instead of Passbook",
    async () => {
      cloudflare.deployEarlier(READY);
      const forbidden: Readiness = { status: 403, body: "", sender: "firewall" };
      const run = await release("silent", forbidden, { ...forbidden, status: 200 });
      expect(run.code).toBe(1);
      expect(run.said).toContain("last: status 200, not from Passbook");
      expect(run.said).toContain("was not rolled back");
      expect(run.said).toContain("DNS record");
      expect(cloudflare.live()).toBe(cloudflare.versions[1]);
    },
    PATIENCE_MS,
  );

  it(
    "a release that is ready but reports a failing check is kept, and the check is named",
    async () => {
      cloudflare.deployEarlier(READY);
      const run = await release({ status: 200, body: { ok: true, checks: { codes: false } } });
      expect(run.code, run.said).toBe(0);
      expect(run.said).toContain("ready; warning: codes does not work");
      expect(cloudflare.live()).toBe(cloudflare.versions[1]);
    },
    PATIENCE_MS,
  );
});
