/** docs/limits.md: what one account, token, app, operator, network and request can reach. Each limit is tested. */
import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import {
  ACCESS_EVENTS_KEPT,
  ACCOUNT_FULL_BYTES,
  ALLOWANCE_DEPTH_MAX,
  ALLOWANCES_PER_ACCOUNT_MAX,
  APPS_PER_ACCOUNT_MAX,
  APPS_PER_ALLOWANCE_MAX,
  BODY_MAX_BYTES,
  CAPS_PER_ALLOWANCE_MAX,
  COST_MAX_CREDITS,
  EVENTS_WATCHERS_MAX,
  EVENTS_WATCHERS_SHARE,
  EXCHANGED_PER_ALLOWANCE_MAX,
  JOB_STEPS_MAX,
  JOBS_PER_BATCH_MAX,
  KEYS_PER_APP_MAX,
  METADATA_MAX_BYTES,
  OPEN_APPROVALS_MAX,
  OPEN_JOBS_MAX,
  OPEN_JOBS_SHARE,
  PAGE_MAX_ROWS,
  PASSKEYS_MAX,
  REFUSALS_KEPT,
  SUSPENDED_AT_ONCE_MAX,
  TOKEN_STORAGE_MAX_BYTES,
  UNREGISTERED_APPS_PER_ACCOUNT_MAX,
} from "../../src/domain/limits.ts";
import { SUPPORT_CREDITS_DEFAULT_MAX } from "../../src/config/settings.ts";
import { LIMITED, type Limited } from "../../src/domain/limit_reached.ts";
import { LOT_APPS_MAX, LOTS_MAX } from "../../src/domain/lots.ts";
import {
  CLIENTS_PER_APP_MAX,
  REDIRECT_URIS_PER_CLIENT_MAX,
  RESOURCES_PER_APP_MAX,
} from "../../src/domain/oauth_client.ts";
import { PLANS_MAX } from "../../src/domain/plans.ts";
import {
  NETWORK_RATE_LIMITS,
  RATE_LIMITS,
  type NetworkRateLimitName,
  type RateLimitName,
} from "../../src/domain/rate_limits.ts";
import { RESOURCE_SCOPES_MAX } from "../../src/domain/resource_uri.ts";
import { STARTER_EXCLUDED_DOMAINS_MAX } from "../../src/domain/starter_rule.ts";
import { FAMILIES_PER_ALLOWANCE_MAX } from "../../src/domain/token_family.ts";
import { WEBHOOKS_PER_APP_MAX } from "../../src/domain/webhook.ts";

const count = (value: number): string => value.toLocaleString("en-US");

interface Limit {
  readonly what: string;
  readonly limit: string;
  /** What happens beyond it. */
  readonly beyond: string;
  /** The name of the test that reaches it. */
  readonly test: string;
  /** If it is refused with `limit_reached`: `of` of the response. */
  readonly of?: Limited;
}

const REACHED = "400 `limit_reached`";

const LIMITS: Readonly<Record<string, readonly Limit[]>> = {
  account: [
    {
      what: "started jobs",
      limit: count(OPEN_JOBS_MAX),
      beyond: REACHED,
      of: "started_jobs",
      test: "an account has at most 10,000 started jobs, since all may expire at the same time",
    },
    {
      what: "storage",
      limit: `${ACCOUNT_FULL_BYTES / 1e9} GB`,
      beyond: "507 `account_full` for new jobs; started jobs still complete, and reads work",
      test: "a full account refuses new jobs and steps before it writes anything, and its started jobs can still end",
    },
    {
      what: "[credits with terms](credits.md)",
      limit: `${LOTS_MAX} lots with something left or held, each for at most ${LOT_APPS_MAX} apps`,
      beyond: "400 `too_many_lots`",
      test: "an account has at most a hundred lots",
    },
    {
      what: "apps",
      limit: count(APPS_PER_ACCOUNT_MAX),
      beyond: `${REACHED}; a job of one more app is created without adding it`,
      of: "apps",
      test: "an account has at most 1,000 apps",
    },
    {
      what: "unregistered apps, which are added with their first job",
      limit: count(UNREGISTERED_APPS_PER_ACCOUNT_MAX),
      beyond: "as for apps",
      of: "unregistered_apps",
      test: "200 unregistered apps leave the room of registered ones, and jobs of more are still created",
    },
    {
      what: "personal access tokens and connections",
      limit: count(ALLOWANCES_PER_ACCOUNT_MAX),
      beyond: REACHED,
      of: "tokens",
      test: "an account with too many tokens gets the problem and its choices back",
    },
    {
      what: "sign-ins of one client that live at the same time",
      limit: count(FAMILIES_PER_ALLOWANCE_MAX),
      beyond: "the one that was unused for the longest time ends",
      test: "one authorization more than the maximum ends the one that was unused for the longest time",
    },
    {
      what: "open streams of events",
      limit: count(EVENTS_WATCHERS_MAX),
      beyond: "429 `limit_reached`",
      of: "streams",
      test: "an account has a limited number of open streams",
    },
    {
      what: "passkeys",
      limit: count(PASSKEYS_MAX),
      beyond: "the page says so",
      test: "an account has at most 20 passkeys",
    },
    {
      what: "refused requests that it keeps for the webhooks of one app",
      limit: count(REFUSALS_KEPT),
      beyond: "the oldest is dropped",
      test: "a refused request is kept only if a webhook of the app wants it, and only the newest ones are",
    },
    {
      what: "events about access that it keeps for the webhooks of one app",
      limit: count(ACCESS_EVENTS_KEPT),
      beyond: "the oldest is dropped",
      test: "refused requests never push out an event about access, and only the newest of each are kept",
    },
    {
      what: "entries of this month that `GET /api/access` adds up",
      limit: "20,000",
      beyond: "`spent_this_month` is null",
      test: "an account with too many entries this month says that it does not know",
    },
  ],
  token: [
    {
      what: "started jobs",
      limit: count(OPEN_JOBS_SHARE.token),
      beyond: REACHED,
      of: "started_jobs_of_token",
      test: "a token with all its started jobs may start no more until one ends, even after an eviction, and others may",
    },
    {
      what: "storage for its jobs",
      limit: `${TOKEN_STORAGE_MAX_BYTES / 1e6} MB, a tenth of an account`,
      beyond: "507 `token_storage_full`; a new token has its own storage",
      test: "a token that has stored a tenth of the account may start no job, but its jobs end and others go on",
    },
    {
      what: "apps that it names",
      limit: count(APPS_PER_ALLOWANCE_MAX),
      beyond: "400",
      test: "a change of %s is refused, and the message says why",
    },
    {
      what: "limits of spending, each for another period",
      limit: count(CAPS_PER_ALLOWANCE_MAX),
      beyond: "400",
      test: "a change of %s is refused, and the message says why",
    },
    {
      what: "open requests for the approval of a job, for 15 minutes each",
      limit: count(OPEN_APPROVALS_MAX),
      beyond: "the oldest one goes",
      test: "of 21 open requests of one token the oldest goes, and another token's stay",
    },
    {
      what: "living tokens that were exchanged from it and from these",
      limit: count(EXCHANGED_PER_ALLOWANCE_MAX),
      beyond: "400",
      test: "a token has at most a hundred living children and theirs, and revoking one makes room",
    },
    {
      what: "exchanges in a row, from one to the next",
      limit: count(ALLOWANCE_DEPTH_MAX),
      beyond: "400",
      test: "a chain of tokens has an end",
    },
    {
      what: "open streams of events, with those of tokens exchanged from it",
      limit: count(EVENTS_WATCHERS_SHARE),
      beyond: "429 `limit_reached`",
      of: "streams_of_token",
      test: "a token and those exchanged from it share 100 streams, and keep nobody else out",
    },
  ],
  app: [
    {
      what: "started jobs in one account",
      limit: count(OPEN_JOBS_SHARE.app),
      beyond: REACHED,
      of: "started_jobs_of_app",
      test: "an app with all its started jobs may start no more, and other apps may",
    },
    {
      what: "server keys",
      limit: count(KEYS_PER_APP_MAX),
      beyond: REACHED,
      of: "app_keys",
      test: "a registered app gets at most 20 keys, even with simultaneous requests",
    },
    {
      what: "webhooks",
      limit: count(WEBHOOKS_PER_APP_MAX),
      beyond: REACHED,
      of: "webhooks",
      test: "an app has at most ten webhooks, and an unregistered app none",
    },
    {
      what: "OAuth clients",
      limit: `${CLIENTS_PER_APP_MAX}, each with ${REDIRECT_URIS_PER_CLIENT_MAX} addresses`,
      beyond: REACHED,
      of: "clients",
      test: "an app has at most 50 clients, also with concurrent requests, and can still change them",
    },
    {
      what: "protected resources",
      limit: `${RESOURCES_PER_APP_MAX}, each with ${RESOURCE_SCOPES_MAX} scopes`,
      beyond: REACHED,
      of: "resources",
      test: "a resource of an unknown app is refused, and an app has at most 50",
    },
    {
      what: "e-mail domains without starter credits",
      limit: count(STARTER_EXCLUDED_DOMAINS_MAX),
      beyond: "400",
      test: "an app has at most %s",
    },
  ],
  operator: [
    {
      what: "credits that the role support gives, takes and refunds in a UTC day, unless `SUPPORT_CREDITS_MAX` says another number",
      limit: count(SUPPORT_CREDITS_DEFAULT_MAX),
      beyond: "403 `role_required`",
      test: "the limit is 1,000 credits without a setting",
    },
    {
      what: "accounts that one request suspends",
      limit: count(SUSPENDED_AT_ONCE_MAX),
      beyond: "400; the console leads back to the list",
      test: "an empty selection and more than 100 accounts lead back to the list, which says why",
    },
    {
      what: "plans, of all operators together",
      limit: count(PLANS_MAX),
      beyond: REACHED,
      of: "plans",
      test: "there are at most a hundred plans, which can still be changed",
    },
  ],
  job: [
    {
      what: "steps",
      limit: count(JOB_STEPS_MAX),
      beyond: `${REACHED}; it can still be completed`,
      of: "job_steps",
      test: "a job takes a bounded number of steps, and can still be completed after the last one",
    },
    {
      what: "metadata, also after merging",
      limit: `${METADATA_MAX_BYTES / 1024} KiB`,
      beyond: "400 `metadata_too_large`",
      test: "completing refuses metadata that is too large after merging and settles nothing",
    },
    {
      what: "`cost_estimate`, `actual_cost`",
      limit: count(COST_MAX_CREDITS),
      beyond: "400",
      test: "the body %s is refused at %s and changes nothing",
    },
  ],
  request: [
    {
      what: "body",
      limit: `${BODY_MAX_BYTES / 1024} KiB`,
      beyond: "413",
      test: "a chunked body of 3 MB without Content-Length gets 413",
    },
    {
      what: "items of a batch",
      limit: count(JOBS_PER_BATCH_MAX),
      beyond: "400",
      test: "a batch has 1 to 100 items",
    },
    {
      what: "unknown fields of a JSON object, and items of a list",
      limit: "40, and 1,000",
      beyond: "400",
      test: "a body with more than 40 unknown fields, or a list with more than 1,000 items, is refused",
    },
    {
      what: "rows of a page",
      limit: count(PAGE_MAX_ROWS),
      beyond: "400",
      test: "a list of jobs has 50 jobs by default and at most 200",
    },
  ],
};

/** The first column of the table of rate limits. */
const RATE_LIMIT_ROWS: Readonly<
  Record<RateLimitName, string> & Record<`network ${NetworkRateLimitName}`, string>
> = {
  authenticated: "all authenticated requests",
  writes: "writes",
  app: "requests with an app's key",
  app_jobs: "lists of an app's jobs in all accounts",
  app_settings: "changes of an app's settings by its keys",
  webhook_test: "tests of a webhook",
  checkout: "checkouts opened",
  token_family: "codes redeemed and tokens refreshed",
  consent: "decisions about OAuth clients and single jobs",
  client_document: "documents and keys fetched for OAuth clients",
  device_attempt: "attempts at a user code",
  device_poll: "polls of one device login",
  signin_answer: "provider responses for one sign-in",
  "network session_lookup": "lookups of session cookies",
  "network signin": "sign-ins started and completed",
  "network authorize":
    "authorization requests of OAuth clients, and their requests to sign a person out",
  "network passkey_account": "accounts created with a passkey, and attempts at recovery codes",
  "network issuer_person": "people made by tokens of one trusted issuer",
  "network social_me": "`/api/socialMe`",
  "network device_start": "device logins started",
  "network app_key_unknown": "requests with unknown app keys",
  "network client_failure":
    "failed authentications of OAuth clients, and requests to OAuth endpoints that are refused before",
  "network client_document": "documents and keys fetched for OAuth clients",
  "network device_attempt": "attempts at a user code",
  "network device_poll": "polls of genuine device codes",
  "network device_unknown": "polls of unknown device codes",
};

/** The test that reaches each rate limit. */
const RATE_LIMIT_TESTS: Readonly<Record<keyof typeof RATE_LIMIT_ROWS, string>> = {
  authenticated: "one identity beyond its rate limit gets 429 with Retry-After",
  writes: "writes have a limit of their own, and reads continue when it is reached",
  app: "an app's key at the webhooks has the limits of an app's requests and writes",
  app_jobs:
    "an app lists its jobs in all accounts 20 times a minute, and in one account still more often",
  app_settings:
    "an app's keys change its settings at most 60 times a minute, and reading does not count",
  webhook_test:
    "a webhook is tested at most 6 times a minute, by operators and its app together, and another one has its own count",
  checkout: "checkouts are limited for each person, with any credential",
  token_family:
    "a family or a network with too many requests waits, and its requests reach no object",
  consent: "more than thirty decisions of one person in a minute are refused",
  client_document: "a client with a document is limited if too much was fetched for it",
  device_attempt:
    "attempts at codes are limited per account over all networks and per network over all accounts",
  device_poll:
    "polls of one device code reach its object at most 60 times a minute, from all networks together",
  signin_answer:
    "a replayed sign-in callback reaches the provider at most five times a minute, from all networks together",
  "network session_lookup":
    "look-ups of invented session cookies are limited per network on every route",
  "network signin":
    "starting a sign-in, its callback and development sign-in share one limit per network",
  "network authorize": "below /oauth, other refusals are errors of OAuth too: %#",
  "network passkey_account": "one network may create ten accounts a minute",
  "network issuer_person":
    "one network makes at most 30 people of an issuer in a minute, and known people still pass",
  "network social_me": "/api/socialMe is limited per address",
  "network device_start":
    "starts and unknown polls are limited per network while a real device continues to poll",
  "network app_key_unknown":
    "many invented app keys cause one read of the registry and are limited per network",
  "network client_failure":
    "a family or a network with too many requests waits, and its requests reach no object",
  "network client_document": "a client with a document is limited if too much was fetched for it",
  "network device_attempt":
    "attempts at codes are limited per account over all networks and per network over all accounts",
  "network device_poll":
    "polls of many device codes are limited per network before they reach an object",
  "network device_unknown":
    "starts and unknown polls are limited per network while a real device continues to poll",
};

/** The cells of the table below a heading of docs/limits.md. */
function tableBelow(heading: string): readonly (readonly string[])[] {
  const [, section = ""] = readFileSync("docs/limits.md", "utf8").split(`\n## ${heading}\n`);
  const [own = ""] = section.split("\n## ");
  const rows = own.split("\n").filter((line) => line.startsWith("| "));
  return rows.slice(2).map((row) => {
    const cells = row.slice(2, -1).split(" |");
    return cells.map((cell) => cell.trim());
  });
}

it("docs/limits.md has exactly the rate limits of the code, with their numbers", () => {
  const shown = (
    requests: string,
    rule: { readonly count: number; readonly window_seconds: number },
    site: string,
  ) => [requests, `${count(rule.count)} in ${rule.window_seconds} s`, site].join(" | ");
  const single = Object.entries(RATE_LIMITS).map(([name, rule]) =>
    shown(RATE_LIMIT_ROWS[name as RateLimitName], rule, ""),
  );
  const networks = Object.entries(NETWORK_RATE_LIMITS).map(([name, { network, site }]) =>
    shown(RATE_LIMIT_ROWS[`network ${name as NetworkRateLimitName}`], network, count(site.count)),
  );
  const listed = tableBelow("Rate limits").map(([requests, , limit, site]) =>
    [requests, limit, site].join(" | "),
  );
  expect(listed.toSorted()).toEqual([...single, ...networks].toSorted());
});

it("docs/limits.md has exactly the counts and sizes of the code, by whose they are", () => {
  const rows = Object.entries(LIMITS).flatMap(([one, limits]) =>
    limits.map(({ what, limit, beyond }) => [one, what, limit, beyond]),
  );
  expect(tableBelow("Counts and sizes")).toEqual(rows);
});

it("each limit that a refusal names is in the table", () => {
  const named = Object.values(LIMITS).flatMap((limits) => limits.flatMap(({ of }) => of ?? []));
  expect(named.toSorted()).toEqual(LIMITED.toSorted());
});

it("each limit has a test that reaches it", () => {
  const files = globSync("test/worker/**/*.test.ts").map((file) => readFileSync(file, "utf8"));
  const tests = [
    ...Object.values(LIMITS).flatMap((limits) => limits.map(({ test }) => test)),
    ...Object.values(RATE_LIMIT_TESTS),
  ];
  const missing = tests.filter((test) => !files.some((text) => text.includes(`"${test}"`)));
  expect(missing).toEqual([]);
});
