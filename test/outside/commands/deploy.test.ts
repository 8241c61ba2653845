/** `npm run deploy` as an operator runs it, against a test double of Cloudflare's API. */
import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RATE_LIMIT_RULES } from "../../../src/domain/rate_limits.ts";
import { freePort } from "../../../src/commands/local_worker.ts";
import { openCloudflare, type CloudflareDouble } from "./cloudflare_double.ts";
import {
  ADDRESS,
  deployTo,
  HOST,
  NOT_READY,
  PATIENCE_MS,
  READY,
  ROUTES,
  writeSmallWorker,
  type Run,
} from "./deploy_run.ts";

const QUEUE = `
[[queues.producers]]
binding = "EXTRA_QUEUE"
queue = "passbook-extra"

[[queues.consumers]]
queue = "passbook-extra"
dead_letter_queue = "passbook-extra-dead"
`;

/** The file is in the project folder, because its paths are relative. Git ignores it. */
const CONFIG = `.passbook-deploy-test-${process.pid}.json.toml`;

let cloudflare: CloudflareDouble;
let folder: string;
let secrets: string;
beforeEach(async () => {
  cloudflare = await openCloudflare();
  folder = await mkdtemp(join(tmpdir(), "passbook-deploy-test-"));
  secrets = join(folder, "kept.vars");
  await writeConfig(ADDRESS);
});
afterEach(async () => {
  await cloudflare.close();
  await rm(folder, { recursive: true, force: true });
  await rm(CONFIG, { force: true });
});

/** The project's wrangler.toml with an address and the lines of a test. */
async function writeConfig(vars: string, more = "", routes = ROUTES): Promise<void> {
  const toml = await readFile("wrangler.toml", "utf8");
  const addressed = toml
    .replace("[vars]", `[vars]\n${vars}`)
    .replace(/^name = /m, `${routes}\nname = `);
  await writeFile(CONFIG, `${addressed}\n${more}`);
}

function deploy(...args: readonly string[]): Promise<Run> {
  return deployTo(cloudflare, CONFIG, ...args);
}

/** Values of a file of `NAME='value'` lines. */
async function keptSecrets(): Promise<Record<string, string>> {
  const lines = (await readFile(secrets, "utf8")).trim().split("\n");
  return Object.fromEntries(
    lines.map((line) => [line.split("=")[0], line.slice(line.indexOf("'") + 1, -1)]),
  );
}

const placeOf = (changes: readonly string[], pattern: RegExp) =>
  changes.findIndex((change) => pattern.test(change));

describe("npm run deploy", () => {
  it(
    "a deployment to a new account creates what wrangler.toml lists, and a second one changes only the code",
    // Two whole deployments.
    { tags: ["slow"], timeout: PATIENCE_MS },
    async () => {
      await writeConfig(ADDRESS, QUEUE);
      // The file exists and is readable by everybody.
      await writeFile(secrets, "", { mode: 0o644 });
      const first = await deploy(`--secrets=${secrets}`);
      expect(first).toMatchObject({
        code: 0,
        said: expect.stringContaining(`live at https://${HOST}`),
      });
      expect(cloudflare.names("d1")).toContain("passbook-db");
      expect(cloudflare.names("kv").toSorted()).toEqual([
        "passbook-client-documents",
        "passbook-device-codes",
      ]);
      expect(cloudflare.names("r2")).toEqual(["passbook-archive"]);
      expect(cloudflare.names("queues")).toEqual(["passbook-extra", "passbook-extra-dead"]);
      expect(cloudflare.tables("passbook-db")).toContain("accounts");
      const migrated = placeOf(cloudflare.changes, /CREATE TABLE `account_days`/);
      expect(migrated).toBeGreaterThan(-1);
      expect(placeOf(cloudflare.changes, /^PUT \/workers\/scripts\/passbook$/)).toBeGreaterThan(
        migrated,
      );
      expect(cloudflare.requests.at(-1)).toBe("GET /readyz");

      // The new values are the same at Cloudflare and in the file, and are not printed.
      const worker = cloudflare.worker();
      const kept = await keptSecrets();
      expect(worker?.secrets).toEqual(kept);
      expect(Object.keys(kept)).toEqual(["SIGNING_KEYS", "ID_TOKEN_KEYS", "ENCRYPTION_KEYS"]);
      expect((await stat(secrets)).mode & 0o777).toBe(0o600);
      const { d } = JSON.parse(kept.SIGNING_KEYS ?? "").keys[0];
      const { k } = JSON.parse(kept.ENCRYPTION_KEYS ?? "").keys[0];
      for (const secret of [d, k, "token-of-the-operator"])
        expect(first.said).not.toContain(secret);

      // The deployment is minified, has source maps, serves its own address only, and has no invocation logs.
      expect(worker?.domains).toEqual([HOST]);
      expect(worker?.files).toContain("worker.js.map");
      expect(worker?.code).not.toContain("\n/**");
      expect((worker?.code.length ?? 0) / (worker?.code.split("\n").length ?? 1)).toBeGreaterThan(
        500,
      );
      expect(worker?.metadata.observability).toMatchObject({
        redact_query_string: true,
        logs: { invocation_logs: false },
        traces: { enabled: false },
      });

      const namespaces = deployedNamespaces();
      expect(new Set(namespaces).size).toBe(RATE_LIMIT_RULES.length);
      cloudflare.forgetRequests();
      const second = await deploy();
      expect(second.code, second.said).toBe(0);
      expect(second.said).toContain("all set");
      const changed = cloudflare.changes.filter((change) => !/IF NOT EXISTS|queues/.test(change));
      expect(changed.every((change) => /workers\/scripts|domains/.test(change))).toBe(true);
      expect(cloudflare.worker()?.secrets).toEqual(kept);
      expect(deployedNamespaces()).toEqual(namespaces);
    },
  );

  it(
    "a deployment after a failure continues at the step that failed, and repeats nothing",
    // Six deployments, one after another.
    { tags: ["slow"], timeout: PATIENCE_MS },
    async () => {
      const stages: readonly [RegExp, "before" | "after", string][] = [
        [/^POST \/d1\/database$/, "before", "D1 database"],
        [/^POST \/storage\/kv\/namespaces$/, "after", "KV namespace"],
        [/CREATE TABLE `account_days`/, "before", "Migrations"],
        [/^PUT \/workers\/scripts\/passbook$/, "before", "bundle it minified"],
      ];
      for (const [matches, when, step] of stages) {
        cloudflare.fail(matches, when);
        const run = await deploy(`--secrets=${secrets}`);
        expect(run.code).toBe(1);
        const [stopped = ""] = run.said.split("\n").filter((line) => line.endsWith("failed"));
        expect(stopped).toContain(step);
        expect(run.said).toContain("told to fail");
        expect(run.said).toContain("run the same command again");
        expect(cloudflare.worker()).toBeNull();
        cloudflare.heal();
      }
      cloudflare.ready(NOT_READY);
      const unready = await deploy(`--secrets=${secrets}`);
      expect(unready).toMatchObject({
        code: 1,
        said: expect.stringContaining("not ready: account"),
      });
      cloudflare.ready(READY);
      expect((await deploy()).code).toBe(0);
      // Secrets are stored before they are used, so the values of the failed run are the deployed ones.
      expect(cloudflare.worker()?.secrets).toEqual(await keptSecrets());
      const made = cloudflare.changes.filter(
        (change) => /^POST \/(d1\/database|storage|r2)/.test(change) && !change.includes("query"),
      );
      // One request for each of the five resources, and one that failed before it made anything.
      expect(made).toEqual([
        "POST /d1/database",
        "POST /d1/database",
        "POST /d1/database",
        "POST /storage/kv/namespaces",
        "POST /storage/kv/namespaces",
        "POST /r2/buckets",
      ]);
    },
  );

  it(
    "a deployment generates no secret without a file to store it in",
    { tags: ["slow"], timeout: PATIENCE_MS },
    async () => {
      const run = await deploy();
      expect(run.code).toBe(1);
      expect(run.said).toContain("--secrets passbook-secrets.vars");
      expect(cloudflare.worker()).toBeNull();
    },
  );
});

/** The ids of the counters of the deployed Worker's rate limits. */
function deployedNamespaces(): readonly string[] {
  const bindings = cloudflare.worker()?.metadata.bindings as readonly {
    readonly type: string;
    readonly namespace_id: string;
  }[];
  return bindings.filter(({ type }) => type === "ratelimit").map((it) => it.namespace_id);
}

it(
  "the rate limits of a staging Worker share no counter with those of production",
  { tags: ["slow"], timeout: PATIENCE_MS },
  async () => {
    const namespacesOf = async (name: string) => {
      const run = await deployTo(
        cloudflare,
        await writeSmallWorker(folder, name),
        "--discard-secrets",
      );
      expect(run.code, run.said).toBe(0);
      return deployedNamespaces();
    };
    const production = await namespacesOf("passbook");
    const staging = await namespacesOf("passbook-staging");
    expect(new Set([...production, ...staging]).size).toBe(4);
    for (const id of [...production, ...staging]) expect(id).toMatch(/^[1-9]\d{0,9}$/);
  },
);

it(
  "the documented command makes a staging Worker, which has its own names and address",
  { tags: ["slow"] },
  async () => {
    await writeConfig(ADDRESS, QUEUE);
    await copyFile(CONFIG, join(folder, "wrangler.toml"));
    const [command = "?"] = /^sed .+$/m.exec(await readFile("docs/operate.md", "utf8")) ?? [];
    await promisify(execFile)("bash", ["-c", command], { cwd: folder });
    await copyFile(join(folder, "wrangler.staging.toml"), CONFIG);
    const run = await deploy("--dry-run");
    expect(run.code, run.said).toBe(0);
    expect(run.said).toContain("D1 database passbook-staging-db");
    expect(run.said).toContain("KV namespace passbook-staging-device-codes");
    expect(run.said).toContain("R2 bucket passbook-staging-archive (ARCHIVE)");
    expect(run.said).toContain("Queue passbook-staging-extra:");
    expect(run.said).toContain("Queue passbook-staging-extra-dead:");
    expect(run.said).toContain("https://staging.example.com/readyz");
  },
);

describe("npm run deploy without a store", { tags: ["slow"], timeout: PATIENCE_MS }, () => {
  /** A small Worker with the two databases and a namespace; `more` is a line of its directory. */
  async function writeWorkerWithStores(more = ""): Promise<string> {
    const config = await writeSmallWorker(folder);
    await mkdir(join(folder, "migrations"), { recursive: true });
    const table = "create table directory_marker (one integer primary key, id text);";
    await writeFile(join(folder, "migrations", "0000_initial.sql"), table);
    const stores = `
[[d1_databases]]
binding = "DIRECTORY"
migrations_dir = "migrations"
${more}

[[d1_databases]]
binding = "DB"

[[kv_namespaces]]
binding = "DEVICE_CODES"

[[r2_buckets]]
binding = "ARCHIVE"
`;
    await writeFile(config, `${await readFile(config, "utf8")}${stores}`);
    return config;
  }
  const run = (config: string, ...args: readonly string[]) =>
    deployTo(cloudflare, config, "--discard-secrets", ...args);

  it("a deployment does not replace a lost DIRECTORY or DB by an empty one, unless the operator names it", async () => {
    const config = await writeWorkerWithStores();
    const first = await run(config);
    expect(first.code, first.said).toBe(0);
    const ids = [
      ...first.said.matchAll(/^ {2}(database_id|id|bucket_name) = "(\S+)" {3}# below (.+)$/gm),
    ];
    expect(ids.map(([, key, , binding]) => [key, binding])).toEqual([
      ["database_id", 'binding = "DIRECTORY"'],
      ["database_id", 'binding = "DB"'],
      ["id", 'binding = "DEVICE_CODES"'],
      ["bucket_name", 'binding = "ARCHIVE"'],
    ]);
    expect(
      ["passbook-directory", "passbook-db", "passbook-archive"].map((name) =>
        cloudflare.place(name),
      ),
    ).toEqual(["", "", ""]);

    cloudflare.loseDatabase("passbook-directory");
    cloudflare.loseDatabase("passbook-db");
    cloudflare.forgetRequests();
    const refused = await run(config, "--create-missing", "DB");
    expect(refused.code).toBe(1);
    expect(refused.said).toContain("The D1 database passbook-directory (DIRECTORY) is missing");
    expect(refused.said).toContain("--create-missing DIRECTORY");
    expect(cloudflare.changes).toEqual([]);

    const forced = await run(config, "--create-missing=DB", "--create-missing=DIRECTORY");
    expect(forced.code, forced.said).toBe(0);
    expect(forced.said).toContain("passbook admin rebuild --all");
    expect(cloudflare.read("passbook-directory", "select id from directory_marker")).toEqual([
      { id: "accepted" },
    ]);
  });

  it("a deployment refuses an id in wrangler.toml that the account does not have, also on a first deployment", async () => {
    const id = "0199f3a1-0000-4000-8000-000000000000";
    const refused = await run(await writeWorkerWithStores(`database_id = "${id}"`));
    expect(refused.code).toBe(1);
    expect(refused.said).toContain(`no D1 database with the database_id ${id}`);
    expect(cloudflare.changes).toEqual([]);
  });

  it("a deployment creates databases and buckets in the region that the operator names, and moves none", async () => {
    const config = await writeWorkerWithStores();
    const first = await run(config, "--location=weur");
    expect(first.code, first.said).toBe(0);
    expect(first.said).toMatch(/passbook-directory \(DIRECTORY\).* … created in weur/);
    const places = () =>
      ["passbook-directory", "passbook-db", "passbook-archive"].map((name) =>
        cloudflare.place(name),
      );
    expect(places()).toEqual(["weur", "weur", "weur"]);
    // KV has no region.
    expect(first.said).toMatch(/\(DEVICE_CODES\).* … created$/m);

    cloudflare.loseDatabase("passbook-db");
    const later = await run(config, "--location", "apac", "--create-missing=DB");
    expect(later.code, later.said).toBe(0);
    expect(later.said).toMatch(/\(DIRECTORY\).* … found; it stays where it was created/);
    expect(places()).toEqual(["weur", "apac", "weur"]);
  });

  it("a deployment to a region that Cloudflare does not have names the regions and sends no request", async () => {
    const refused = await run(await writeWorkerWithStores(), "--location=europe");
    expect(refused.code).toBe(1);
    expect(refused.said).toContain(
      "--location europe is not a region. Use one of weur, eeur, apac, oc, wnam, enam.",
    );
    expect(cloudflare.requests).toEqual([]);
  });

  it("a Worker that has secrets and no live version counts as deployed", async () => {
    cloudflare.giveSecrets("SIGNING_KEYS");
    const refused = await run(await writeWorkerWithStores());
    expect(refused.code).toBe(1);
    expect(refused.said).toContain("--create-missing DIRECTORY");
    expect(cloudflare.changes).toEqual([]);
  });
});

describe("npm run deploy with wrong settings", () => {
  it("a deployment with wrong settings lists all of them and sends no request to Cloudflare", async () => {
    const providers = JSON.stringify([{ preset: "github", client_secret: "s3cret" }]);
    await writeConfig(`${ADDRESS}\nALOWED_ORIGINS = "x"\nPAT_TTL_DAYS = "0"`, "", "");
    await writeFile(secrets, `SIGNIN_PROVIDERS='${providers}'\n`);
    const run = await deploy(`--secrets=${secrets}`);
    expect(run.code).toBe(1);
    for (const words of [
      "ALOWED_ORIGINS is not a setting",
      "PAT_TTL_DAYS: must be at least 1",
      "SIGNIN_PROVIDERS, entry 1, client_id: is missing",
      `routes = [{ pattern = "${HOST}", custom_domain = true }]`,
    ]) {
      expect(run.said).toContain(words);
    }
    expect(run.said).not.toContain("s3cret");
    // The file was readable by everybody. Reading it removes that access.
    expect((await stat(secrets)).mode & 0o777).toBe(0o600);
    expect(cloudflare.requests).toEqual([]);
  });

  for (const [vars, words, tags] of [
    ["", "BASE_URL: is required unless DEV_SIGNIN is true", []],
    [
      'BASE_URL = "http://localhost:8787"',
      "BASE_URL: must be an https address in a deployment",
      ["slow"],
    ],
    ['BASE_URL = "https://passbook.acme.workers.dev"', "workers_dev: must be true", ["slow"]],
  ] as const) {
    const title = `a deployment with the settings (${vars}) is refused: ${words}`;
    it(title, { tags: [...tags] }, async () => {
      await writeConfig(vars);
      const run = await deploy("--discard-secrets");
      expect(run).toMatchObject({ code: 1, said: expect.stringContaining(words) });
      expect(cloudflare.requests).toEqual([]);
    });
  }
});

describe("npm run deploy with an issuer", { tags: ["slow"] }, () => {
  const entry = { id: "acme", name: "Acme", client_id: "a", client_secret: "s3cret" };

  it("a deployment fetches a provider's endpoints into the file of secrets before it checks the settings", async () => {
    const issuer = await openIssuer();
    await writeConfig(`${ADDRESS}\nPAT_TTL_DAYS = "0"`);
    const providers = JSON.stringify([{ ...entry, issuer: issuer.url }]);
    await writeFile(secrets, `SIGNIN_PROVIDERS='${providers}'\n`);
    const rehearsed = await deploy("--dry-run", `--secrets=${secrets}`);
    expect(rehearsed.said).not.toContain("SIGNIN_PROVIDERS, entry");
    expect(issuer.requests()).toBe(0);

    const run = await deploy(`--secrets=${secrets}`);
    await issuer.close();
    expect(run.code).toBe(1);
    // Only the other setting is wrong.
    expect(run.said).toContain("A setting is wrong:\n  PAT_TTL_DAYS");
    const { SIGNIN_PROVIDERS } = await keptSecrets();
    expect(JSON.parse(SIGNIN_PROVIDERS ?? "")).toEqual([
      expect.objectContaining({
        ...entry,
        authorization_endpoint: `${issuer.url}/auth`,
        token_endpoint: `${issuer.url}/token`,
      }),
    ]);
    expect(run.said).not.toContain("s3cret");
  });
});

/** An issuer with the required metadata only. */
async function openIssuer() {
  let requests = 0;
  const server = createServer((_, response) => {
    requests += 1;
    const endpoints = { authorization_endpoint: `${url}/auth`, token_endpoint: `${url}/token` };
    response.end(JSON.stringify({ issuer: url, ...endpoints, jwks_uri: `${url}/jwks` }));
  });
  const port = await freePort();
  const url = `http://localhost:${port}`;
  await new Promise<void>((resolve) => {
    server.listen(port, resolve);
  });
  const close = () => new Promise((resolve) => server.close(resolve));
  return { url, close, requests: () => requests };
}

describe("npm run deploy -- --dry-run", () => {
  it(
    "a dry run shows every step in order, bundles the code, and sends no request to Cloudflare",
    async () => {
      await writeConfig(ADDRESS, QUEUE);
      const run = await deploy("--dry-run");
      expect(run.code).toBe(0);
      const steps = run.said.split("\n").filter((line) => /^\d+\/\d+ /.test(line));
      const order = [
        "signed in",
        "live version",
        "passbook-db",
        "passbook-device-codes",
        "passbook-extra-dead",
        "Secrets",
        "Migrations",
        "deploy it",
        "/readyz",
      ];
      const places = order.map((word) => steps.findIndex((step) => step.includes(word)));
      expect(places).toEqual(places.toSorted((one, other) => one - other));
      expect(places).not.toContain(-1);
      expect(run.said).toContain("The code bundles");
      expect(cloudflare.requests).toEqual([]);
    },
    PATIENCE_MS,
  );

  it(
    "a dry run names the settings that it checked, without values, and warns of a service that nobody can use",
    { tags: "slow" },
    async () => {
      const config = await writeSmallWorker(folder);
      const unusable = await deployTo(cloudflare, config, "--dry-run");
      expect(unusable.code, unusable.said).toBe(0);
      expect(unusable.said).toContain(`${config}: BASE_URL`);
      expect(unusable.said).toMatch(
        /generated, if Cloudflare lacks them: SIGNING_KEYS, ID_TOKEN_KEYS, ENCRYPTION_KEYS/,
      );
      expect(unusable.said).toMatch(/with their defaults: .*PAT_TTL_DAYS/);
      expect(unusable.said).toContain("SIGNIN_PROVIDERS is not set, so nobody can sign in");
      expect(unusable.said).toContain("OPERATORS is not set, so nobody can use the console");

      const providers = JSON.stringify([
        { preset: "github", client_id: "a", client_secret: "s3c" },
      ]);
      await writeFile(secrets, `SIGNIN_PROVIDERS='${providers}'\nOPERATORS='github:1'\n`);
      const usable = await deployTo(cloudflare, config, "--dry-run", `--secrets=${secrets}`);
      expect(usable.code, usable.said).toBe(0);
      expect(usable.said).toContain(`${secrets}: SIGNIN_PROVIDERS, OPERATORS`);
      expect(usable.said).not.toContain("nobody can");
      expect(usable.said).not.toContain("s3c");
    },
  );

  it(
    "a dry run with a wrong setting shows the steps, ends with the error, and fails",
    { tags: ["slow"] },
    async () => {
      await writeConfig(`${ADDRESS}\nPAT_TTL_DAYS = "0"`);
      const run = await deploy("--dry-run");
      expect(run.code).toBe(1);
      expect(run.said).toContain("1/");
      expect(run.said).toContain("A setting is wrong:\n  PAT_TTL_DAYS: must be at least 1");
      expect(run.said.trim()).toMatch(/The deployment would fail\..*$/);
      expect(run.said).not.toContain("nothing was changed");
      expect(cloudflare.requests).toEqual([]);
    },
  );
});
