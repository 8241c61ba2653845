import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi, type MockInstance } from "vitest";
import { parseAllowedOrigin } from "../../../src/domain/origins.ts";
import {
  HOSTING_SUFFIXES_RETRY_MS,
  createWildcardGuard,
} from "../../../src/operations/wildcards.ts";
import { registerApp } from "../support/directory_outage.ts";
import { environmentWith, send } from "../support/passbook.ts";

const keepOwned = createWildcardGuard(env.ASSETS);

/** Whether an entry of an allowlist is valid and allowed. */
async function counts(entry: string): Promise<boolean> {
  const origin = parseAllowedOrigin(entry);
  return origin !== null && (await keepOwned([origin])).length === 1;
}

describe("a wildcard", () => {
  it.each([
    ["a host of pages", "github.io"],
    ["a host of Workers", "workers.dev"],
    ["a host of previews", "vercel.app"],
    ["a host of three labels", "up.railway.app"],
    ["a parent of such hosts", "amazonaws.com"],
    ["a parent in between", "eu-west-1.on.aws"],
    ["what a rule with a wildcard stands under", "compute.amazonaws.com"],
    ["a customer's name in a cloud", "mine.s3.eu-west-1.amazonaws.com"],
    ["a cloud's region that is yet to come", "mars-1.on.aws"],
    ["what a country sells under", "co.uk"],
    ["what another country sells under", "com.au"],
    ["what a country without known hosts sells under", "com.ng"],
    ["another label of one", "ac.jp"],
    ["and another", "mil.kr"],
    ["a dynamic name service", "duckdns.org"],
  ])("a wildcard over %s (%s) is refused", async (_, host) => {
    expect(await counts(`https://*.${host}`)).toBe(false);
  });

  it.each([
    "example.com",
    "example.co.uk",
    "mine.github.io",
    "mine.workers.dev",
    "mine.up.railway.app",
    "github.com",
    "family.example",
    "co.example",
    "notgithub.io",
    "notamazonaws.com",
  ])("a wildcard over names of one owner (%s) is allowed", async (host) => {
    expect(await counts(`https://*.${host}`)).toBe(true);
  });

  it("an exact origin under a shared hosting suffix is allowed", async () => {
    expect(await counts("https://mine.github.io")).toBe(true);
    expect(await counts("https://github.io")).toBe(true);
  });
});

/** A binding of static files that responds with `answer` and counts the requests. */
function filesThat(answer: (request: Request | string) => Promise<Response> | Response) {
  const fetch = vi.fn(async (request: Request | string) => answer(request));
  return { ASSETS: { ...env.ASSETS, fetch } as unknown as Fetcher, fetch };
}

const workingFiles = () => filesThat((request) => env.ASSETS.fetch(request));

async function isOriginAllowed(environment: Env, origin: string): Promise<boolean> {
  const answer = await send("GET", "/api/me", { headers: { Origin: origin } }, environment);
  const shared = answer.headers.get("Access-Control-Allow-Origin");
  expect([null, origin]).toContain(shared);
  const path = `/signin?${new URLSearchParams({ redirect_to: `${origin}/` }).toString()}`;
  const { status } = await send("GET", path, {}, environment);
  expect(status).toBe(shared === null ? 400 : 200);
  return shared !== null;
}

describe("a wildcard of the settings or of an app", () => {
  let logged: MockInstance<typeof console.error>;
  beforeEach(() => {
    logged = vi.spyOn(console, "error").mockReturnValue();
    vi.spyOn(console, "warn").mockReturnValue();
  });
  const allow = (ALLOWED_ORIGINS: string, files: object): Env =>
    environmentWith({ ALLOWED_ORIGINS, ...files });
  const linesOf = (event: string): unknown[] =>
    logged.mock.calls.map(([line]) => line).filter((line) => line.event === event);

  it("a wildcard is allowed after the list was read once", async () => {
    const { fetch, ...files } = workingFiles();
    const environment = allow("https://*.mine.example", files);
    for (const name of ["one", "two", "three"]) {
      expect(await isOriginAllowed(environment, `https://${name}.mine.example`)).toBe(true);
    }
    expect(await isOriginAllowed(environment, "https://mine.example")).toBe(false);
    expect(fetch).toHaveBeenCalledTimes(1);
    expect(logged).not.toHaveBeenCalled();
  });

  it("wildcards of many apps are allowed with one read of the list", async () => {
    for (const name of ["one", "two", "three"]) {
      await registerApp(name, { origins_json: `["https://*.${name}.example"]` });
    }
    const { fetch, ...files } = workingFiles();
    const environment = allow("", files);
    expect(await isOriginAllowed(environment, "https://a.two.example")).toBe(true);
    expect(await isOriginAllowed(environment, "https://a.four.example")).toBe(false);
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it("a wildcard over a shared hosting suffix is never allowed and is logged once", async () => {
    const environment = allow("https://*.github.io,https://*.mine.example", workingFiles());
    expect(await isOriginAllowed(environment, "https://stranger.github.io")).toBe(false);
    expect(await isOriginAllowed(environment, "https://one.mine.example")).toBe(true);
    expect(linesOf("wildcard_ignored")).toEqual([
      { event: "wildcard_ignored", suffix: ".github.io" },
    ]);
  });

  it.each<[string, object]>([
    ["is not there", filesThat(() => new Response("none", { status: 404 }))],
    [
      "comes with an error",
      filesThat(
        async (asked) => new Response((await env.ASSETS.fetch(asked)).body, { status: 500 }),
      ),
    ],
    ["cannot be asked for", filesThat(() => Promise.reject(new Error("down")))],
    ["is cut short", filesThat(() => new Response("com blogspot"))],
    ["is another page", filesThat(() => new Response("<!doctype html>"))],
    ["has no binding", { ASSETS: undefined }],
  ])("a wildcard is not allowed if the list %s, and exact origins are", async (_, files) => {
    const environment = allow("https://*.mine.example,https://exact.example", files);
    expect(await isOriginAllowed(environment, "https://one.mine.example")).toBe(false);
    expect(await isOriginAllowed(environment, "https://exact.example")).toBe(true);
    expect(linesOf("hosting_suffixes_read_failed")).toHaveLength(1);
  });

  it("a wildcard is allowed again once the list can be read, which not every request tries", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    let is_down = true;
    const { fetch, ...files } = filesThat((request) =>
      is_down ? new Response(null, { status: 500 }) : env.ASSETS.fetch(request),
    );
    const environment = allow("https://*.mine.example", files);
    expect(await isOriginAllowed(environment, "https://one.mine.example")).toBe(false);
    is_down = false;
    expect(await isOriginAllowed(environment, "https://one.mine.example")).toBe(false);
    expect(fetch).toHaveBeenCalledTimes(1);
    vi.setSystemTime(Date.now() + HOSTING_SUFFIXES_RETRY_MS);
    expect(await isOriginAllowed(environment, "https://one.mine.example")).toBe(true);
  });

  it("the list is not read for requests without an origin or settings without a wildcard", async () => {
    const { fetch, ...files } = workingFiles();
    await send("GET", "/api/me", {}, allow("https://*.mine.example", files));
    await isOriginAllowed(allow("https://exact.example", files), "https://exact.example");
    expect(fetch).not.toHaveBeenCalled();
  });
});
