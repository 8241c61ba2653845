/**
 * A stand-in for Cloudflare's API on loopback: an account with its databases, namespaces, queues,
 * secrets and Workers. It records its requests in order, and fails those that a test chooses.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";

export interface CloudflareDouble {
  readonly url: string;
  /** `METHOD /path` of each request that changes something, without account and ids. */
  readonly changes: readonly string[];
  /** All requests, including reads. */
  readonly requests: readonly string[];
  /** Names of the account's resources. */
  names(kind: "d1" | "kv" | "r2" | "queues"): readonly string[];
  /** The region that the creation of a database or bucket named; "": none. Undefined: the store was not created. */
  place(name: string): unknown;
  /** The Worker's secrets and public settings by name; null before the first deployment. */
  worker(): WorkerAtCloudflare | null;
  /** The names of a database's tables. */
  tables(database: string): readonly string[];
  /** Responds with 500 to matching requests until `heal`. With `after`, the change happens first. */
  fail(matches: RegExp, when?: "before" | "after"): void;
  heal(): void;
  /** The responses to `/readyz` of the versions that are uploaded from now on; the last one repeats. */
  ready(...responses: readonly Readiness[]): void;
  /** Makes a version live, as an earlier deployment did. @returns its id */
  deployEarlier(...responses: readonly Readiness[]): string;
  /** Calls `putLive` with each version that goes live from now on, before Cloudflare responds. */
  follow(putLive: (version: string) => Promise<void>): void;
  /** Calls `act` at the next request that matches. */
  once(matches: RegExp, act: () => void): void;
  /** Deploys two versions, as a gradual deployment of somebody else. @returns the id of the new one */
  deployGradually(percent: number): string;
  /** The shares of the versions of each deployment, oldest first: `<version>@<percent>`. */
  shares(): readonly (readonly string[])[];
  /** The metrics that the account has, as rows; a number is a status. */
  measure(rows: readonly object[] | number): void;
  /** The versions of the Worker, oldest first. */
  readonly versions: readonly string[];
  /** What rollbacks requested. */
  readonly rollbacks: readonly unknown[];
  /** The version that is live; null before the first deployment. */
  live(): string | null;
  /** Makes a Worker without a version, as `wrangler secret put` does. */
  giveSecrets(...names: readonly string[]): void;
  /** Deletes a database, as somebody does in the dashboard. */
  loseDatabase(name: string): void;
  /** The rows of a query of a database. */
  read(database: string, sql: string): readonly unknown[];
  /** Forgets the requests so far. */
  forgetRequests(): void;
  close(): Promise<void>;
}

/**
 * The response to `/readyz`: that of a running Worker at this address, "silent" for none, or an invented one. An invented
 * one comes from Passbook, unless `sender` is something in front of it.
 */
export type Readiness = URL | "silent" | InventedReadiness;

export interface InventedReadiness {
  readonly status: number;
  readonly body: unknown;
  readonly sender?: "firewall";
  /** The version that responds; by default the live one. */
  readonly release?: string;
  /** Called after the response. */
  readonly after?: () => void;
}

export interface WorkerAtCloudflare {
  readonly secrets: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The bundle's main module. */
  readonly code: string;
  /** Names of all its modules and source maps. */
  readonly files: readonly string[];
  readonly domains: readonly string[];
}

interface Part {
  readonly version_id: string;
  readonly percentage: number;
}

interface Failure {
  readonly matches: RegExp;
  readonly when: "before" | "after";
}

interface Answer {
  readonly status?: number;
  readonly result?: unknown;
  readonly errors?: readonly { code: number; message: string }[];
}

interface Asked {
  readonly method: string;
  /** The path without the account. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Buffer;
  readonly content_type: string;
}

const NOT_FOUND: Answer = {
  status: 404,
  errors: [{ code: 10007, message: "This Worker does not exist on your account." }],
};

/** The token of an upload of assets. Wrangler checks only its form. */
const ASSETS_TOKEN = `e30.${btoa(JSON.stringify({ exp: 4_102_444_800 })).replaceAll("=", "")}.sig`;

/** A new account, which accepts any token. */
export async function openCloudflare(): Promise<CloudflareDouble> {
  const databases = new Map<string, { uuid: string; sqlite: DatabaseSync }>();
  const namespaces = new Map<string, string>();
  const buckets = new Map<string, string>();
  const queues = new Map<string, string>();
  const assets = new Set<string>();
  let worker: WorkerAtCloudflare | null = null;
  let failure: Failure | null = null;
  let next_act: { readonly matches: RegExp; readonly act: () => void } | null = null;
  let next_readiness: readonly Readiness[] = [{ status: 200, body: { ok: true } }];
  /** The remaining responses to `/readyz` of each version. */
  const readiness_of = new Map<string, Readiness[]>();
  const versions: string[] = [];
  const rollbacks: unknown[] = [];
  /** Newest first, as Cloudflare lists them. */
  const deployments: object[] = [];
  let live: string | null = null;
  /** Names of the classes of objects of each version. */
  const classes_of = new Map<string, string>();
  const shares: string[][] = [];
  let metrics: readonly object[] | number = [];
  let putLive = (_version: string): Promise<void> => Promise.resolve();
  const requests: string[] = [];
  const places = new Map<string, unknown>();
  const changes: string[] = [];

  const json = (asked: Asked) =>
    JSON.parse(asked.body.toString() || "{}") as Record<string, unknown>;
  const databaseOf = (path: string) =>
    [...databases.values()].find(({ uuid }) => path.includes(uuid));

  async function goLive(version_id: string): Promise<void> {
    await putLive(version_id);
    record([{ version_id, percentage: 100 }]);
  }

  /** The version with most requests is live. */
  function record(parts: readonly Part[]): void {
    const [main] = parts.toSorted((one, other) => other.percentage - one.percentage);
    live = main?.version_id ?? null;
    shares.push(parts.map(({ version_id, percentage }) => `${version_id}@${percentage}`));
    const created_on = new Date(deployments.length * 1000).toISOString();
    deployments.unshift({
      id: randomUUID(),
      created_on,
      source: "wrangler",
      strategy: "percentage",
      versions: parts,
    });
  }

  /** What Cloudflare refuses: shares that are not 100 together, unknown versions, and parts with other classes of objects. */
  function problemOf(parts: readonly Part[]): string | null {
    const sum = parts.reduce((total, { percentage }) => total + percentage, 0);
    if (sum !== 100 || parts.length > 2) return `invalid percentages: ${JSON.stringify(parts)}`;
    if (parts.some(({ version_id }) => !versions.includes(version_id))) return "unknown version";
    const [first, ...others] = parts.map(({ version_id }) => classes_of.get(version_id) ?? "");
    return others.some((it) => it !== first) ? "exports differ between versions" : null;
  }

  function addVersion(responses: readonly Readiness[]): string {
    const version = randomUUID();
    versions.push(version);
    readiness_of.set(version, [...responses]);
    return version;
  }

  async function upload(asked: Asked, goes_live: boolean): Promise<Answer> {
    const form = await formOf(asked);
    const metadata = JSON.parse(await textOf(form.get("metadata")));
    const bindings = (metadata.bindings ?? []) as {
      type: string;
      name: string;
      text: string;
      class_name?: string;
    }[];
    const given = bindings.filter(({ type }) => type === "secret_text");
    worker = {
      secrets: {
        ...worker?.secrets,
        ...Object.fromEntries(given.map(({ name, text }) => [name, text])),
      },
      metadata,
      code: await textOf(form.get(metadata.main_module)),
      files: [...form.keys()],
      domains: worker?.domains ?? [],
    };
    const version = addVersion(next_readiness);
    classes_of.set(version, classesOf(bindings));
    if (goes_live) await goLive(version);
    return {
      result: {
        id: goes_live ? "passbook" : version,
        metadata: { has_preview: false },
        etag: "e",
        pipeline_hash: "p",
        startup_time_ms: 5,
        deployment_id: version,
      },
    };
  }

  function query(asked: Asked): Answer {
    const { sql, params = [] } = json(asked) as { sql: string; params?: string[] };
    const { sqlite } = databaseOf(asked.path) ?? {};
    if (sqlite === undefined)
      return { status: 404, errors: [{ code: 7404, message: "no database" }] };
    try {
      const reads = /^\s*(select|pragma)/i.test(sql);
      const results = reads ? sqlite.prepare(sql).all(...params) : (sqlite.exec(sql), []);
      return { result: [{ results, success: true, meta: { duration: 0 } }] };
    } catch (error) {
      return { status: 400, errors: [{ code: 7500, message: String(error) }] };
    }
  }

  function viewOf(id: string): object {
    const metadata = { created_on: new Date(0).toISOString(), source: "wrangler" };
    const bindings = (classes_of.get(id) ?? "")
      .split(" ")
      .filter((name) => name !== "")
      .map((class_name) => ({ type: "durable_object_namespace", name: "N", class_name }));
    return {
      id,
      number: 1,
      metadata,
      annotations: {},
      resources: { bindings, script: {}, script_runtime: {} },
    };
  }

  async function answer(asked: Asked): Promise<Answer> {
    const { method, path } = asked;
    const is = (verb: string, pattern: RegExp) => method === verb && pattern.test(path);
    if (is("GET", /^\/d1\/database$/)) {
      return {
        result:
          asked.query.get("page") === "1"
            ? [...databases].map(([name, { uuid }]) => ({ name, uuid }))
            : [],
      };
    }
    if (is("POST", /^\/d1\/database$/)) {
      const name = String(json(asked).name);
      places.set(name, json(asked).primary_location_hint ?? "");
      const uuid = randomUUID();
      databases.set(name, { uuid, sqlite: new DatabaseSync(":memory:") });
      return { result: { name, uuid } };
    }
    if (is("POST", /\/query$/)) return query(asked);
    if (is("GET", /^\/d1\/database\/[^/]+$/)) {
      const [name, found] = [...databases].find(([, { uuid }]) => path.includes(uuid)) ?? [];
      return { result: { name, uuid: found?.uuid, version: "production" } };
    }
    if (is("GET", /^\/storage\/kv\/namespaces$/)) {
      const is_first = (asked.query.get("page") ?? "1") === "1";
      return { result: is_first ? [...namespaces].map(([title, id]) => ({ title, id })) : [] };
    }
    if (is("POST", /^\/storage\/kv\/namespaces$/)) {
      const title = String(json(asked).title);
      namespaces.set(title, randomUUID().replaceAll("-", ""));
      return { result: { title, id: namespaces.get(title) } };
    }
    if (is("GET", /^\/r2\/buckets\/[^/]+\/lifecycle$/)) {
      const name = path.split("/").at(-2) ?? "";
      return buckets.has(name)
        ? { result: { rules: [] } }
        : {
            status: 404,
            errors: [{ code: 10006, message: "The specified bucket does not exist." }],
          };
    }
    if (is("POST", /^\/r2\/buckets$/)) {
      const name = String(json(asked).name);
      places.set(name, json(asked).locationHint ?? "");
      buckets.set(name, name);
      return { result: { name } };
    }
    if (is("GET", /^\/queues$/)) {
      const name = asked.query.get("name");
      const found = [...queues].filter(([it]) => name === null || it === name);
      return {
        result: found.map(([queue_name, queue_id]) => ({
          queue_name,
          queue_id,
          producers: [],
          consumers: [],
          settings: {},
        })),
      };
    }
    if (is("POST", /^\/queues$/)) {
      queues.set(String(json(asked).queue_name), randomUUID());
      return { result: {} };
    }
    if (is("GET", /\/scripts\/[^/]+\/secrets$/)) {
      return worker === null
        ? NOT_FOUND
        : { result: Object.keys(worker.secrets).map((name) => ({ name, type: "secret_text" })) };
    }
    if (is("POST", /\/assets-upload-session$/)) {
      const { manifest = {} } = json(asked) as { manifest?: Record<string, { hash: string }> };
      const missing = Object.values(manifest).flatMap(({ hash }) => (assets.has(hash) ? [] : hash));
      return { result: { jwt: ASSETS_TOKEN, buckets: missing.length === 0 ? [] : [missing] } };
    }
    if (is("POST", /^\/workers\/assets\/upload$/)) {
      for (const hash of (await formOf(asked)).keys()) assets.add(hash);
      return { status: 201, result: { jwt: ASSETS_TOKEN } };
    }
    if (is("PUT", /^\/workers\/scripts\/[^/]+$/)) return upload(asked, true);
    if (is("POST", /^\/workers\/scripts\/[^/]+\/versions$/)) return upload(asked, false);
    if (is("POST", /\/domains\/changeset$/)) {
      return { result: { added: [], removed: [], updated: [], conflicting: [] } };
    }
    if (is("PUT", /\/domains\/records$/)) {
      const { origins = [] } = json(asked) as { origins?: { hostname: string }[] };
      if (worker !== null) worker = { ...worker, domains: origins.map(({ hostname }) => hostname) };
      return { result: [] };
    }
    if (is("GET", /^\/workers\/(services|scripts)\//) && worker === null) return NOT_FOUND;
    if (path.includes("/workers/services/")) {
      const script = { last_deployed_from: "wrangler", tag: null, tags: [], etag: "e" };
      return { result: { default_environment: { environment: "production", script } } };
    }
    if (is("GET", /\/settings$/)) return { result: { bindings: worker?.metadata.bindings ?? [] } };
    if (is("GET", /\/deployments$/)) return { result: { deployments } };
    if (is("POST", /\/deployments$/)) {
      const { versions: parts = [] } = json(asked) as { versions?: Part[] };
      const problem = problemOf(parts);
      if (problem !== null) return { status: 400, errors: [{ code: 10021, message: problem }] };
      rollbacks.push(json(asked));
      const [chosen, second] = parts;
      if (second === undefined && chosen !== undefined) await goLive(chosen.version_id);
      else record(parts);
      return { result: { id: randomUUID() } };
    }
    if (is("GET", /\/versions$/)) return { result: { items: versions.map(viewOf) } };
    if (is("GET", /\/versions\/[^/]+$/)) return { result: viewOf(path.split("/").at(-1) ?? "") };
    const subdomain = { enabled: false, previews_enabled: false };
    if (path.includes("/workers/workers/")) return { result: { subdomain } };
    if (path.endsWith("/subdomain")) return { result: subdomain };
    return { result: method === "GET" && !/settings|services/.test(path) ? [] : {} };
  }

  async function handle(asked: Asked): Promise<Answer> {
    const named = `${asked.method} ${asked.path.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, ":id")}`;
    const sql = asked.path.endsWith("/query")
      ? ` ${String(json(asked).sql).trim().slice(0, 60)}`
      : "";
    const line = `${named}${sql}`;
    requests.push(line);
    const { act } = next_act?.matches.test(line) === true ? next_act : { act: null };
    if (act !== null) next_act = null;
    act?.();
    const is_read = asked.method === "GET" || /^POST \S*\/query (select|pragma)/i.test(line);
    if (!is_read) changes.push(line);
    const fails = failure?.matches.test(line) === true ? failure.when : null;
    const failed: Answer = { status: 400, errors: [{ code: 1, message: "told to fail" }] };
    if (fails === "before") return failed;
    const answered = await answer(asked);
    return fails === "after" ? failed : answered;
  }

  /** The version that a request names by Cloudflare's header, if it is in the deployment; else the live one. */
  function versionFor(headers: IncomingMessage["headers"]): string {
    const named = /^passbook="(.*)"$/.exec(
      String(headers["cloudflare-workers-version-overrides"] ?? ""),
    )?.[1];
    const is_part = shares.at(-1)?.some((share) => share.startsWith(`${named}@`)) === true;
    return is_part && named !== undefined ? named : (live ?? "");
  }

  const server = createServer((request, response) => {
    void (async () => {
      const url = new URL(request.url ?? "/", "http://cloudflare.test");
      const send = (status: number, body: unknown) => {
        response.writeHead(status, { "Content-Type": "application/json" });
        response.end(JSON.stringify(body));
      };
      if (url.pathname === "/readyz") {
        requests.push("GET /readyz");
        const version = versionFor(request.headers);
        const responses = readiness_of.get(version) ?? [];
        const readiness = responses.length > 1 ? responses.shift() : responses[0];
        if (readiness === undefined) return send(404, {});
        if (readiness === "silent") return request.destroy();
        if (readiness instanceof URL) return forward(await fetch(readiness), response, version);
        if (readiness.sender === undefined) {
          response.setHeader("Passbook-Request-Id", "r1");
          response.setHeader("Passbook-Release", readiness.release ?? version);
        }
        send(readiness.status, readiness.body);
        return readiness.after?.();
      }
      if (url.pathname.endsWith("/analytics_engine/sql")) {
        return typeof metrics === "number" ? send(metrics, {}) : send(200, { data: metrics });
      }
      if (url.pathname.startsWith("/user")) {
        return send(200, {
          success: true,
          errors: [],
          messages: [],
          result: { id: "u", status: "active", email: "operator@example.com" },
        });
      }
      if (url.pathname === "/accounts" || url.pathname === "/memberships") {
        const account = { id: "account", name: "Acme" };
        const result = [url.pathname === "/accounts" ? account : { account }];
        return send(200, {
          success: true,
          errors: [],
          messages: [],
          result,
          result_info: { page: 1, per_page: 50, count: 1, total_count: 1, total_pages: 1 },
        });
      }
      const {
        status = 200,
        result = null,
        errors = [],
      } = await handle({
        method: request.method ?? "GET",
        path: url.pathname.replace(/^\/accounts\/[^/]+/, ""),
        query: url.searchParams,
        body: await bodyOf(request),
        content_type: request.headers["content-type"] ?? "",
      });
      send(status, { success: status < 400, errors, messages: [], result });
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;

  return {
    url: `http://127.0.0.1:${port}`,
    changes,
    requests,
    place: (name) => places.get(name),
    names: (kind) => [...{ d1: databases, kv: namespaces, r2: buckets, queues }[kind].keys()],
    worker: () => worker,
    tables(database) {
      const rows =
        databases
          .get(database)
          ?.sqlite.prepare("select name from sqlite_master where type = 'table' order by name")
          .all() ?? [];
      return rows.map(({ name }) => String(name));
    },
    fail(matches, when = "before") {
      failure = { matches, when };
    },
    heal() {
      failure = null;
    },
    ready(...responses) {
      next_readiness = responses;
    },
    deployEarlier(...responses) {
      worker ??= { secrets: {}, metadata: {}, code: "", files: [], domains: [] };
      const version = addVersion(responses);
      classes_of.set(version, "Account");
      record([{ version_id: version, percentage: 100 }]);
      return version;
    },
    once(matches, act) {
      next_act = { matches, act };
    },
    deployGradually(percent) {
      const version_id = addVersion([]);
      record([
        { version_id: live ?? "", percentage: 100 - percent },
        { version_id, percentage: percent },
      ]);
      return version_id;
    },
    shares: () => shares,
    measure(rows) {
      metrics = rows;
    },
    follow(next) {
      putLive = next;
    },
    versions,
    rollbacks,
    live: () => live,
    giveSecrets(...names) {
      const secrets = Object.fromEntries(names.map((name) => [name, "value"]));
      worker = { secrets, metadata: {}, code: "", files: [], domains: [] };
    },
    loseDatabase: (name) => void databases.delete(name),
    read: (database, sql) => databases.get(database)?.sqlite.prepare(sql).all() ?? [],
    forgetRequests() {
      changes.length = 0;
      requests.length = 0;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const classesOf = (bindings: readonly { type: string; class_name?: string }[]): string =>
  bindings
    .filter(({ type }) => type === "durable_object_namespace")
    .map(({ class_name }) => class_name)
    .join(" ");

function formOf({ body, content_type }: Asked): Promise<FormData> {
  const headers = { "Content-Type": content_type };
  return new Response(new Uint8Array(body), { headers }).formData();
}

async function textOf(entry: FormDataEntryValue | null): Promise<string> {
  return typeof entry === "string" || entry === null ? (entry ?? "") : entry.text();
}

/** Passes on a response of the running Worker, which the platform calls `release`. */
async function forward(from: Response, to: ServerResponse, release: string): Promise<void> {
  const headers = { ...Object.fromEntries(from.headers), "passbook-release": release };
  to.writeHead(from.status, headers);
  to.end(await from.text());
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
