/** The docs repeat some numbers and lists of the code. These tests compare them. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import {
  ACCOUNT_FULL_BYTES,
  APP_REGISTRY_STALE_MAX_MS,
  APPS_PER_ALLOWANCE_MAX,
  BODY_MAX_BYTES,
  DEVELOPMENT_STARTER_CREDITS,
  EVENTS_QUEUE_MAX_BYTES,
  EVENTS_REPLAY_MAX_LINES,
  EVENTS_WATCHERS_MAX,
  EVENTS_WATCHERS_SHARE,
  EVENTS_WINDOW_BYTES,
  IDEMPOTENCY_CLEANUP_ROWS,
  IDEMPOTENCY_KEEP_MS,
  IDEMPOTENCY_KEY_MAX_LENGTH,
  JOBS_PER_BATCH_MAX,
  KEYS_PER_APP_MAX,
  LOST_ACCOUNTS_COMPARED,
  LOST_ACCOUNTS_REPAIRED,
  OPEN_JOBS_SHARE,
  PASSKEYS_MAX,
  PROJECTION_MESSAGE_LINES,
  RECONCILED_DAYS,
  RECONCILIATION_PAGE_PAYMENTS,
  RECONCILIATION_PAGES,
  RECONCILIATION_PAUSE_MS,
  REFUSALS_KEPT,
  PROGRESS_KEPT,
  ACCESS_EVENTS_KEPT,
  SESSION_CLEANUP_PORTIONS,
  SESSION_CLEANUP_ROWS,
  SESSION_JWT_TTL_SECONDS,
  SESSION_TTL_MS,
  SIGNIN_FLOW_TTL_SECONDS,
  UPKEEP_PORTIONS,
  UPSTREAM_BODY_MAX_BYTES,
  UPSTREAM_TIMEOUT_MS,
  WEBHOOK_TIMEOUT_MS,
} from "../../src/domain/limits.ts";
import {
  CREDIT_PACKAGES_MAX,
  DEVICE_CODE_TTL_DEFAULT_SECONDS,
  DEVICE_POLL_INTERVAL_DEFAULT_SECONDS,
  PAT_TTL_DEFAULT_DAYS,
  READ_MODEL_DEFAULT_DAYS,
  SUPPORT_CREDITS_DEFAULT_MAX,
} from "../../src/config/settings.ts";
import {
  CLIENT_DOCUMENT_MAX_BYTES,
  CLIENT_DOCUMENT_TIMEOUT_MS,
} from "../../src/domain/client_document.ts";
import { measureFootprint } from "../bench/footprint.ts";
import { REDIRECT_URIS_PER_CLIENT_MAX } from "../../src/domain/oauth_client.ts";
import { OUTAGE_RETRY_MAX_MS, PROJECTION_RETRY_MAX_MS } from "../../src/domain/back_off.ts";
import { PREVIOUS_SECRET_MS, WEBHOOKS_PER_APP_MAX } from "../../src/domain/webhook.ts";
import {
  DEVICE_CODE_KEEP_MS,
  USER_CODE_ALPHABET,
  USER_CODE_LENGTH,
} from "../../src/domain/device_login.ts";
import { NETWORK_RATE_LIMITS, RATE_LIMITS } from "../../src/domain/rate_limits.ts";

const count = (value: number): string => value.toLocaleString("en-US");
const kib = (bytes: number): string => `${bytes / 1024} KiB`;
const minutes = (seconds: number): string => `${seconds / 60} minutes`;
const days = (ms: number): string => `${ms / (24 * 60 * 60 * 1000)} days`;
const hours = (ms: number): string => `${ms / (60 * 60 * 1000)} hours`;
const user_codes = USER_CODE_ALPHABET.length ** USER_CODE_LENGTH;

/** Texts that each page must contain, with numbers from the code. */
const STATED: Readonly<Record<string, readonly string[]>> = {
  "README.md": [
    `up to ${JOBS_PER_BATCH_MAX} items`,
    `(up to ${IDEMPOTENCY_KEY_MAX_LENGTH} printable ASCII characters without spaces)`,
    `For ${hours(IDEMPOTENCY_KEEP_MS)}, a repeated request`,
  ],
  "docs/settings.md": [
    `time between polls | ${DEVICE_CODE_TTL_DEFAULT_SECONDS}; ${DEVICE_POLL_INTERVAL_DEFAULT_SECONDS} |`,
    `in a UTC day | ${SUPPORT_CREDITS_DEFAULT_MAX} |`,
    `lifetime of a personal access token | ${PAT_TTL_DEFAULT_DAYS} |`,
    `keeps a job after its creation | ${READ_MODEL_DEFAULT_DAYS} |`,
    `starter credits of unregistered apps | ${DEVELOPMENT_STARTER_CREDITS} |`,
  ],
  "docs/signing-in.md": [
    `${days(SESSION_TTL_MS)} after its last use`,
    `its subdomains | ${minutes(SESSION_JWT_TTL_SECONDS)}, renewed`,
    `your app keeps it | ${minutes(SESSION_JWT_TTL_SECONDS)} |`,
    `own host | ${minutes(SIGNIN_FLOW_TTL_SECONDS)} |`,
    `at most ${minutes(SESSION_JWT_TTL_SECONDS)} later`,
    `adds passkeys, up to ${PASSKEYS_MAX}, to any account`,
    `may create ${NETWORK_RATE_LIMITS.passkey_account.network.count} accounts or try`,
  ],
  "docs/apps.md": [
    `An app may have ${KEYS_PER_APP_MAX} keys.`,
    `not read in the last ${minutes(APP_REGISTRY_STALE_MAX_MS / 1000)}.`,
  ],
  "docs/personal-tokens.md": [
    `(${PAT_TTL_DEFAULT_DAYS} days unless set)`,
    `\`apps\` (1 to ${APPS_PER_ALLOWANCE_MAX})`,
    `One token may have ${count(OPEN_JOBS_SHARE.token)} started jobs.`,
  ],
  "docs/device-login.md": [
    `"expires_in": ${DEVICE_CODE_TTL_DEFAULT_SECONDS}, "interval": ${DEVICE_POLL_INTERVAL_DEFAULT_SECONDS}`,
    `expired more than ${hours(DEVICE_CODE_KEEP_MS)} ago`,
    `${USER_CODE_ALPHABET.length}^${USER_CODE_LENGTH} = ${count(user_codes)} user codes`,
    `${RATE_LIMITS.device_attempt.count} a minute per account, ` +
      `${NETWORK_RATE_LIMITS.device_attempt.network.count} per network, ` +
      `${NETWORK_RATE_LIMITS.device_attempt.site.count} per /48`,
    `(${NETWORK_RATE_LIMITS.device_start.network.count} starts a minute for ` +
      `${minutes(DEVICE_CODE_TTL_DEFAULT_SECONDS)})`,
    `1 in ${count(user_codes / 10_000)}.`,
  ],
  "docs/third-party-tokens.md": [
    `up to ${kib(UPSTREAM_BODY_MAX_BYTES)} and take up to ${UPSTREAM_TIMEOUT_MS / 1000} seconds`,
  ],
  "docs/events.md": [
    `more than ${count(EVENTS_REPLAY_MAX_LINES)} entries behind`,
    `up to ${kib(EVENTS_WINDOW_BYTES)} in transit`,
    `after ${EVENTS_QUEUE_MAX_BYTES / 1024 ** 2} MiB`,
    `may have ${count(EVENTS_WATCHERS_MAX)} open streams`,
    `may have ${EVENTS_WATCHERS_SHARE} of them`,
    `after ${minutes(SESSION_JWT_TTL_SECONDS)} for a session token`,
  ],
  "docs/webhooks.md": [
    `An app can have ${WEBHOOKS_PER_APP_MAX} webhooks.`,
    `within ${WEBHOOK_TIMEOUT_MS / 1000} seconds`,
    `its newest ${REFUSALS_KEPT} refused requests, ${ACCESS_EVENTS_KEPT} events about access`,
    `the newest step of ${count(PROGRESS_KEPT)} jobs`,
    `For ${hours(PREVIOUS_SECRET_MS)} each delivery has two signatures`,
  ],
  "docs/oauth-clients.md": [
    `at most ${REDIRECT_URIS_PER_CLIENT_MAX} addresses`,
    `${NETWORK_RATE_LIMITS.client_failure.network.count} failed attempts a minute from one network`,
    `${kib(CLIENT_DOCUMENT_MAX_BYTES)}, ${CLIENT_DOCUMENT_TIMEOUT_MS / 1000} seconds`,
    `${RATE_LIMITS.client_document.count} a minute for one person, ` +
      `${NETWORK_RATE_LIMITS.client_document.network.count} a minute from one network`,
    `up to ${minutes(APP_REGISTRY_STALE_MAX_MS / 1000)} more`,
  ],
  "docs/operate.md": [
    `compares up to ${count(LOST_ACCOUNTS_COMPARED)} people`,
    `makes up to ${LOST_ACCOUNTS_REPAIRED} missing accounts`,
    `in the first hour at least every ${minutes(PROJECTION_RETRY_MAX_MS / 1000)},`,
    `at most ${OUTAGE_RETRY_MAX_MS / 3_600_000} hours, and at once`,
    `${minutes(SESSION_JWT_TTL_SECONDS)} for session tokens`,
  ],
  "docs/scale.md": [
    `a body is at most ${kib(BODY_MAX_BYTES)}`,
    `(${count(RATE_LIMITS.authenticated.count)} in ${RATE_LIMITS.authenticated.window_seconds} s)`,
    `at ${ACCOUNT_FULL_BYTES / 1_000_000_000} GB | 507`,
    `Passbook's own: ${UPKEEP_PORTIONS} portions`,
    `at most ${PROJECTION_MESSAGE_LINES} entries`,
    `An alarm deletes at most ${count(IDEMPOTENCY_CLEANUP_ROWS)} rows.`,
    `older than \`READ_MODEL_DAYS\` (${READ_MODEL_DEFAULT_DAYS})`,
    `at most ${count(SESSION_CLEANUP_ROWS * SESSION_CLEANUP_PORTIONS)} every ten minutes`,
    `1 to ${JOBS_PER_BATCH_MAX} jobs in one request`,
  ],
  "docs/payments.md": [
    `at most ${CREDIT_PACKAGES_MAX} packages`,
    `refunds of the last ${RECONCILED_DAYS.refunds} days`,
    `the last ${RECONCILED_DAYS.disputes} days`,
    `starts ${hours(RECONCILIATION_PAUSE_MS)} after`,
    `up to ${RECONCILIATION_PAGES * RECONCILIATION_PAGE_PAYMENTS} payments every ten minutes`,
  ],
  "docs/limits.md": [
    `create and settle ${RATE_LIMITS.writes.count / 2} jobs at once`,
    `${count(RATE_LIMITS.authenticated.count * 360)} requests, of which ` +
      `${count(RATE_LIMITS.writes.count * 360)} may be writes`,
  ],
};

it.each(Object.entries(STATED))("%s has the same numbers as the code", (page, texts) => {
  const text = readFileSync(page, "utf8").replaceAll(/\s+/g, " ");
  expect(texts.filter((stated) => !text.includes(stated))).toEqual([]);
});

it("docs/operators.md lists exactly the operations that each role may call", () => {
  const { paths } = JSON.parse(readFileSync("docs/openapi.json", "utf8")) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, RoleOfOperation>>>>;
  };
  const operations = Object.values(paths).flatMap((item) => Object.entries(item));
  const of = (wanted: string) => operations.filter(([, { "x-role": role }]) => role === wanted);
  const support = of("support").map(([, { operationId }]) => `\`${operationId}\``);
  expect(readFileSync("docs/operators.md", "utf8")).toContain(
    `also ${support.toSorted().join(", ")} |`,
  );
  expect(new Set(of("viewer").map(([method]) => method))).toEqual(new Set(["get"]));
  expect(of("admin").length).toBeGreaterThan(10);
});

interface RoleOfOperation {
  readonly operationId: string;
  readonly "x-role"?: string;
}

it("docs/performance.md has the medians of the benchmark's results", () => {
  const [, ...measured] = readFileSync("test/bench/results/memory.md", "utf8")
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .filter((cells) => cells.length > 13 && ["who", "passbook"].includes(cells[3] ?? ""))
    .map((cells) => [1, 2, 4, 9, 10, 12].map((column) => (cells[column] ?? "").split(" (")[0]));
  const rows = measured.map((cells) => `| ${cells.join(" | ")} |`);
  expect(rows.length).toBeGreaterThan(20);
  expect(readFileSync("docs/performance.md", "utf8")).toContain(rows.join("\n"));
});

it("docs/scale.md has the prices of the last `npm run price`", () => {
  const lines = readFileSync("test/bench/results/price.md", "utf8").split("\n");
  const cellsOf = (start: string): string[] =>
    (lines.find((line) => line.startsWith(`| ${start} `)) ?? "").split("|").map((c) => c.trim());
  const kinds = cellsOf("one life takes");
  const dollars = cellsOf("a million lives");
  const price = (kind: string): string =>
    Number((dollars[kinds.indexOf(kind)] ?? "").replace("$", "")).toFixed(1);
  const rows = [
    ["session", "session"],
    ["session, `Idempotency-Key` on both halves", "session, keys"],
    ["capped token", "capped token"],
    ["capped token, `Idempotency-Key` on both halves", "capped token, keys"],
    [
      "session, an account with three [lots](credits.md), of which the job uses one",
      "session, lots",
    ],
    ["session, a webhook for creation and end", "session, webhook"],
  ].map(([row, kind]) => `| ${row} | ${price(`cold, ${kind}`)} | ${price(`hot, ${kind}`)} |`);
  expect(readFileSync("docs/scale.md", "utf8")).toContain(rows.join("\n"));
});

it("docs/keep.md has the prices of the archive of the last `npm run price`", () => {
  const rows = readFileSync("test/bench/results/price.md", "utf8")
    .split("\n")
    .filter((line) => /^\| (?:100|10|1) \|/.test(line));
  expect(rows).toHaveLength(3);
  expect(readFileSync("docs/keep.md", "utf8")).toContain(rows.join("\n"));
});

/** Bytes of each row, in the last `npm run price -- --bytes`. */
function storedBytes(): (name: string) => number {
  const lines = readFileSync("test/bench/results/bytes.md", "utf8").split("\n");
  const cells = lines.map((line) => line.split("|").map((cell) => cell.trim()));
  return (name) => Number(cells.find(([, row]) => row === name)?.[2]);
}

it("docs/scale.md has the sizes of the last `npm run price -- --bytes`, and what follows from them", () => {
  const of = storedBytes();
  const [GB, MILLION, DAY_SECONDS] = [1e9, 1e6, 86_400];
  const entry = of("the account's object, entries");
  const kept = of("the account's object, jobs");
  const job = kept + 2 * entry;
  const [listed, account, grant] = ["jobs", "accounts", "grants"].map((it) => of(`D1 DB, ${it}`));
  const [user, identity, session] = ["users", "identities", "sessions"].map((it) =>
    of(`D1 DIRECTORY, ${it}`),
  );
  if (!listed || !account || !grant || !user || !identity || !session) throw new Error("no size");
  const person = user + identity + session;
  const jobs = (10 * GB) / listed;
  const people = (10 * GB) / person;
  const window_seconds = (rate: number): number => jobs / rate;
  const new_object = of("a new object");
  // The platform's own tables.
  const with_platform = new_object + 2 * 4096;
  const full = ACCOUNT_FULL_BYTES;
  const gb = (bytes: number): string => (bytes / GB).toFixed(bytes < 10 * GB ? 1 : 0);
  const millions = (value: number, digits = 0): string => (value / MILLION).toFixed(digits);
  const stated = [
    `a job takes ${kept} bytes and each of its two ledger entries ${entry}, so ${job} per job.`,
    `In \`DB\`, a job takes ${listed} bytes, an account ${account}, and a grant ${grant}.`,
    `a user takes ${user} bytes, an identity ${identity}, and a session ${session}.`,
    `An account takes ${of("D1 DB, account_days")} bytes more in \`DB\` per active day`,
    `a job takes about ${((job + 1024) / 1000).toFixed(1)} KB, and an object holds ` +
      `${millions(full / (job + 1024), 1)} million jobs;`,
    `the maximum of 16 KiB, ${count(Math.round(full / (job + 16_384) / 1e5) * 1e5)}.`,
    `a steady ${Math.round(jobs / 90 / DAY_SECONDS)} jobs a second fill it`,
    `about ${millions(people, 1)} million people with one signed-in browser each.`,
    `| ${millions(full / job)} million jobs, at`,
    `| ${millions(jobs)} million jobs in the window |`,
    `| ${millions(people, 1)} million people |`,
    `\`DB\` holds ${millions(jobs)} million jobs, which is a day at ${Math.round(jobs / DAY_SECONDS / 10) * 10} jobs a second.`,
    `| 10 | 864,000 | ${Math.round(window_seconds(10) / DAY_SECONDS)} days:`,
    `| 100 | 8.6 million | ${Math.round(window_seconds(100) / DAY_SECONDS)} days |`,
    `| 1,000 | 86 million | ${Math.round(window_seconds(1000) / 3600)} hours:`,
    `| 10,000 | 864 million | ${Math.round(window_seconds(10_000) / 60)} minutes:`,
    `| 100,000 | 8.6 billion | ${Math.round(window_seconds(100_000) / 60)} minutes |`,
    `| 10³ to 10⁶ | up to ${gb(person * 1e6)} GB | up to ${gb((account + grant) * 1e6)} GB |`,
    `| ${millions(people, 1)} × 10⁶ | 10 GB | ${gb((account + grant) * people)} GB |`,
    `| 10⁷ | ${gb(person * 1e7)} GB | ${gb((account + grant) * 1e7)} GB |`,
    `| 10⁸ | ${gb(person * 1e8)} GB | ${gb((account + grant) * 1e8)} GB |`,
    `A person takes ${count(person)} bytes with one session, ${count(person + 2 * session)} with three, and ` +
      `${person - session} without.`,
    `a new object takes ${new_object / 1024} KiB,`,
    `10⁸ of them take ${((with_platform * 1e8) / 1e12).toFixed(0)} TB.`,
  ];
  const page = readFileSync("docs/scale.md", "utf8").replaceAll(/\s+/g, " ");
  expect(stated.filter((text) => !page.includes(text))).toEqual([]);
});

it("the sizes of the last `npm run price -- --bytes` are those of the present schema", () => {
  const of = storedBytes();
  const { rows, new_object } = measureFootprint(20_000);
  const now = [...rows, { name: "a new object", bytes: new_object }];
  // A new column or two changes little. The page is corrected before it is wrong by a tenth.
  const stale = now.filter(({ name, bytes }) => !(Math.abs(bytes / of(name) - 1) < 0.1));
  expect(stale, "run npm run price -- --bytes, and correct docs/scale.md").toEqual([]);
});

it("CONTRIBUTING.md lists exactly the dependencies of package.json", () => {
  const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Readonly<
    Record<
      "dependencies" | "devDependencies" | "optionalDependencies",
      Readonly<Record<string, string>>
    >
  >;
  const [, section = ""] = readFileSync("CONTRIBUTING.md", "utf8").split("## Dependencies\n");
  const rows = section.split("\n").filter((line) => line.startsWith("| "));
  const named = rows.slice(2).flatMap((row) => (row.split("|")[1] ?? "").trim().split(", "));
  const declared = [
    manifest.dependencies,
    manifest.devDependencies,
    manifest.optionalDependencies,
  ].flatMap((packages) => Object.keys(packages));
  expect(named.toSorted()).toEqual(declared.toSorted());
});

/** The anchor that GitHub gives a heading. */
function anchorOf(heading: string): string {
  const text = heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, "");
  return text.trim().replaceAll(" ", "-");
}

it("every link between the pages leads to an existing file and heading", () => {
  const broken = globSync([
    "*.md",
    "docs/*.md",
    "examples/*.md",
    "src/client/*.md",
    "clients/python/*.md",
  ]).flatMap((page) =>
    [...readFileSync(page, "utf8").matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)]
      .filter(([, path = "", anchor]) => {
        const file = path === "" ? page : join(dirname(page), path);
        if (!existsSync(file)) return true;
        if (anchor === undefined) return false;
        const headings = readFileSync(file, "utf8").matchAll(/^#+ (.+)$/gm);
        return ![...headings].some(([, heading = ""]) => anchorOf(heading) === anchor);
      })
      .map(([link]) => `${page}: ${link}`),
  );
  expect(broken).toEqual([]);
});
