import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import {
  languageOf,
  rememberLanguage,
  takeLanguage,
} from "../../../../../src/http/caller/page_language.ts";
import type { AppEnvironment } from "../../../../../src/http/context.ts";
import type { Language } from "../../../../../src/domain/language.ts";
import { hostCookieName } from "../../../../../src/identity/cookies.ts";

const HERE = "https://passbook.example";
const COOKIE = hostCookieName(HERE, "passbook_language");

/** Sends a request of a browser that keeps `kept`. `of_person`: the language of the person who signs in. */
async function send(
  path: string,
  { kept = [], of_person = null, fails = false, headers = {} }: Partial<Sent> = {},
) {
  const chosen: string[] = [];
  const chooseLanguage = async (identity_id: string, language: Language) => {
    if (fails) throw new Error("it is down");
    chosen.push(`${identity_id}: ${language}`);
  };
  const app = new Hono<AppEnvironment>();
  app.use("*", async (context, next) => {
    context.set("base_url", HERE);
    context.set("services", { identity: { chooseLanguage } } as never);
    await next();
  });
  app.get("/sign-in", async (context) => {
    await takeLanguage(context, { identity_id: "ada", language: of_person } as never);
    return context.text("signed in");
  });
  app.get("/choose", (context) => {
    rememberLanguage(context, "de");
    return context.text("chosen");
  });
  app.get("*", (context) => context.text(languageOf(context)));
  const cookies = kept.map((value) => `${COOKIE}=${value}`).join("; ");
  const response = await app.request(path, { headers: { ...headers, Cookie: cookies } });
  const set = response.headers
    .getSetCookie()
    .map((cookie) => /^([^;]*); Max-Age=(\d+)/.exec(cookie)?.slice(1));
  return { status: response.status, text: await response.text(), set, chosen };
}

interface Sent {
  readonly kept: readonly string[];
  readonly of_person: Language | null;
  readonly fails: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

const A_YEAR = "31536000";
const GERMAN = { "Accept-Language": "de" };

describe("the language of a page", () => {
  it.each([
    ["that the browser accepts", "/account", [], GERMAN, "de"],
    ["English without any preference", "/account", [], {}, "en"],
    ["that the person chose in this browser", "/account", ["en"], GERMAN, "en"],
    ["that a sign-in took", "/account", ["de~"], {}, "de"],
    ["of the first cookie that names a language", "/account", ["xx", "xx~", "de"], {}, "de"],
    ["that the browser accepts, if the cookie names none", "/account", ["xx"], GERMAN, "de"],
    ["English in the console", "/console", ["de"], GERMAN, "en"],
    ["English below the console", "/console/apps", ["de"], GERMAN, "en"],
    ["not that of the console on a page whose path begins alike", "/consoles", ["de"], {}, "de"],
  ] as const)("a page has the language %s", async (_, path, kept, headers, language) => {
    expect(await send(path, { kept, headers })).toMatchObject({ text: language, set: [] });
  });

  it("a language that a person chooses is kept in the browser for a year", async () => {
    expect((await send("/choose")).set).toEqual([[`${COOKIE}=de`, A_YEAR]]);
  });
});

describe("the language after a sign-in", () => {
  it.each([
    ["without a choice takes the language of the person", [], "de", [`${COOKIE}=de~`, A_YEAR]],
    ["takes it again after another person", ["en~"], "de", [`${COOKIE}=de~`, A_YEAR]],
    ["forgets the one of the person before", ["de~"], null, [`${COOKIE}=`, "0"]],
    ["without a choice stays without one, if the person has none", [], null, null],
    ["in which a language was chosen keeps it", ["en"], "de", null],
  ] as const)("a browser %s", async (_, kept, of_person, cookie) => {
    const { set, chosen } = await send("/sign-in", { kept, of_person });
    expect({ set, chosen }).toEqual({ set: cookie === null ? [] : [cookie], chosen: [] });
  });

  it("a person who has no language takes the one that was chosen in this browser", async () => {
    const { set, chosen } = await send("/sign-in", { kept: ["de"] });
    expect({ set, chosen }).toEqual({ set: [], chosen: ["ada: de"] });
  });

  it("a sign-in succeeds while the choice cannot be stored", async () => {
    expect(await send("/sign-in", { kept: ["de"], fails: true })).toMatchObject({ status: 200 });
  });
});
