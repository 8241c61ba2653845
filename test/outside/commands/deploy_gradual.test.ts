/** `npm run deploy -- --gradual`: the shares of a new version, and what takes it back. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openCloudflare, type CloudflareDouble, type Readiness } from "./cloudflare_double.ts";
import { deployTo, NOT_READY, PATIENCE_MS, READY, writeSmallWorker } from "./deploy_run.ts";

const READER = {
  account_id: "0123456789abcdef0123456789abcdef",
  token: "a-token-of-cloudflare-with-metrics",
};

/** The failures of two versions in the last five minutes, as Cloudflare has them. */
const rowOf = (release: string, requests_0: number, failed_0: number) => ({
  service: "other",
  release,
  app: "",
  limited: 0,
  requests_0,
  failed_0,
});

describe("npm run deploy -- --gradual", { tags: ["slow"], timeout: PATIENCE_MS }, () => {
  let cloudflare: CloudflareDouble;
  let folder: string;
  let config: string;
  let earlier: string;
  const release = (responses: readonly Readiness[], ...args: readonly string[]) => {
    cloudflare.ready(...responses);
    return deployTo(cloudflare, config, "--discard-secrets", "--gradual", ...args);
  };
  /** Ready this often: 0% has 8 checks of four responses. */
  const readyFor = (responses: number) => Array.from({ length: responses }, () => READY);
  const PER_STEP = 8 * 4;

  beforeEach(async () => {
    cloudflare = await openCloudflare();
    folder = await mkdtemp(join(tmpdir(), "passbook-gradual-test-"));
    config = await writeSmallWorker(folder);
    earlier = cloudflare.deployEarlier(READY);
  });
  afterEach(async () => {
    await cloudflare.close();
    await rm(folder, { recursive: true, force: true });
  });

  it("a new version gets 1%, 10% and all requests, and then the routes and the schedule", async () => {
    const run = await release([READY]);
    expect(run.code, run.said).toBe(0);
    const own = cloudflare.versions[1] ?? "";
    expect(cloudflare.shares()).toEqual([
      [`${earlier}@100`],
      [`${earlier}@100`, `${own}@0`],
      [`${earlier}@99`, `${own}@1`],
      [`${earlier}@90`, `${own}@10`],
      [`${own}@100`],
    ]);
    expect(run.said).toContain(`live: version ${own}; METRICS_READER is not set here`);
    expect(cloudflare.worker()?.domains).toEqual(["passbook.example.com"]);
  });

  it("a version that is not ready at 1% is taken back at once, and nothing goes to it any more", async () => {
    const run = await release([...readyFor(PER_STEP), NOT_READY]);
    expect(run.code).toBe(1);
    const own = cloudflare.versions[1] ?? "";
    expect(cloudflare.shares().slice(2)).toEqual([
      [`${earlier}@99`, `${own}@1`],
      [`${earlier}@100`],
    ]);
    expect(cloudflare.rollbacks.at(-1)).toMatchObject({
      code_update_strategy: { mode: "immediate" },
    });
    expect(run.said).toContain("failed at 1% of requests: /readyz is not ready: account.");
    expect(run.said).toContain(`All requests go to version ${earlier} again.`);
    expect(run.said).not.toContain("Passbook is live");
  });

  it("a version that fails more often than the one before is taken back, and one that fails as often is not", async () => {
    vi.stubEnv("METRICS_READER", JSON.stringify(READER));
    let own = "";
    const measure = () => {
      own = cloudflare.versions[1] ?? "";
      cloudflare.measure([rowOf(earlier, 99_000, 990), rowOf(own, 1_000, 15)]);
    };
    // 1.5% is less than twice the 1% of the version before.
    const grown = () => cloudflare.measure([rowOf(earlier, 99_000, 990), rowOf(own, 1_000, 25)]);
    const run = await release([
      { ...READY, after: measure },
      ...readyFor(2 * PER_STEP),
      { ...READY, after: grown },
      READY,
    ]);
    vi.unstubAllEnvs();
    expect(run.code).toBe(1);
    expect(cloudflare.shares().slice(3)).toEqual([
      [`${earlier}@90`, `${own}@10`],
      [`${earlier}@100`],
    ]);
    expect(run.said).toContain(
      "2.50% of its requests got status 5xx (1.00% of the version before)",
    );
  });

  it("a version is not taken back once another deployment is live, which stays as it is", async () => {
    let other = "";
    const after = () => void (other = cloudflare.deployEarlier(READY));
    const run = await release([
      ...readyFor(PER_STEP),
      NOT_READY,
      NOT_READY,
      NOT_READY,
      { ...NOT_READY, after },
    ]);
    expect(run.code).toBe(1);
    expect(cloudflare.shares().at(-1)).toEqual([`${other}@100`]);
    expect(run.said).toContain(
      `It was not taken back, because another deployment is live now (${other} 100%)`,
    );
  });

  it("a gradual deployment stops when another one is made between two steps, and changes nothing more", async () => {
    let other = "";
    const after = () => void (other = cloudflare.deployEarlier(READY));
    const run = await release([...readyFor(PER_STEP - 1), { ...READY, after }, READY]);
    expect(run.code).toBe(1);
    expect(cloudflare.shares().at(-1)).toEqual([`${other}@100`]);
    expect(run.said).toContain(`Another deployment was made meanwhile (${other} 100%)`);
  });

  it("a second deployment is refused during a gradual one, gradual or not, and uploads nothing", async () => {
    const other = cloudflare.deployGradually(10);
    cloudflare.forgetRequests();
    for (const run of [await release([READY]), await deployTo(cloudflare, config)]) {
      expect(run.code).toBe(1);
      expect(run.said).toContain(`under way: ${earlier} 90%, ${other} 10%`);
      expect(run.said).toContain(`npx wrangler versions deploy ${earlier}@100% --yes`);
    }
    expect(cloudflare.changes).toEqual([]);
  });

  it("a deployment that began at the same time as another one uploads nothing once that one is live", async () => {
    let other = "";
    // After this deployment has noted what is live.
    cloudflare.once(/secrets$/, () => void (other = cloudflare.deployEarlier(READY)));
    const run = await deployTo(cloudflare, config, "--discard-secrets");
    expect(run.code).toBe(1);
    expect(run.said).toContain(
      `Another deployment was made meanwhile (${other} 100%). Nothing was uploaded.`,
    );
    expect(cloudflare.shares()).toEqual([[`${earlier}@100`], [`${other}@100`]]);
  });

  it("a release with other classes of objects is refused before anything is uploaded", async () => {
    const toml = await readFile(config, "utf8");
    await writeFile(config, toml.replaceAll("Account", "Wallet"));
    await writeFile(
      join(folder, "worker.js"),
      `import { DurableObject } from "cloudflare:workers";
export class Wallet extends DurableObject {}
export default { fetch: () => new Response() };`,
    );
    cloudflare.forgetRequests();
    const run = await release([READY]);
    expect(run.code).toBe(1);
    expect(run.said).toContain("adds or removes classes of objects (Account, Wallet)");
    expect(cloudflare.changes).toEqual([]);
  });
});
