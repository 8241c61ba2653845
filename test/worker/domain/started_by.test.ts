import { describe, expect, it } from "vitest";
import {
  forApp,
  startedBy,
  starterOf,
  startingApp,
  withoutTokenName,
} from "../../../src/domain/started_by.ts";

const columns = (starter: object | null, allowance_path: string | null = null) => ({
  allowance_path,
  started_by_json: starter === null ? null : JSON.stringify(starter),
});
const TOKEN = { kind: "token", name: "laptop" };

describe("the credential that started a job", () => {
  it("a key acts for its own app, whatever the job's", () => {
    expect(startingApp({ kind: "app", app_slug: "one" }, "two")).toBe("one");
  });

  it.each([
    [["one", "two"], "two"],
    [["one"], "one"],
    [["one", "three"], null],
    [[], null],
    [null, null],
  ])("a page of %j acts, for a job of the app two, for %s", (app_slugs, app) => {
    expect(startingApp({ kind: "page", app_slugs }, "two")).toBe(app);
  });

  it("a job without a starter was started in a browser", () => {
    expect(starterOf(columns(null))).toBeNull();
    expect(startedBy(columns(null))).toEqual({ kind: "browser", id: null, name: null });
  });

  it("a job shows its app, or its token with the one that the person approved", () => {
    const app = columns({ kind: "app", slug: "demo", name: "Demo" });
    expect(startedBy(app)).toEqual({ kind: "app", id: "demo", name: "Demo" });
    expect(startedBy(columns(TOKEN, "t1"))).toEqual({ kind: "token", id: "t1", name: "laptop" });
    expect(startedBy(columns(TOKEN, "t2 t1 t0"))).toEqual({
      kind: "token",
      id: "t2",
      root_id: "t0",
      name: "laptop",
    });
    expect(startedBy(columns(TOKEN))).toEqual({ kind: "token", id: "", name: "laptop" });
  });

  it("the name of a token is left out, and those of apps and clients stay", () => {
    const nameless = columns({ kind: "token", name: null }, "t1");
    expect(withoutTokenName(columns(TOKEN, "t1"))).toEqual(nameless);
    const client = columns({ kind: "connection", name: "Editor", host: null }, "c1");
    expect(withoutTokenName(client)).toEqual(client);
    expect(withoutTokenName(columns(null))).toEqual(columns(null));
  });

  it("an app's key does not see where a job's credits came from", () => {
    const row = { ...columns(TOKEN, "t1"), from_json: '[{"credits":5}]' };
    const nameless = columns({ kind: "token", name: null }, "t1");
    expect(forApp(row)).toEqual({ ...nameless, from_json: "null" });
    expect(forApp(columns(TOKEN, "t1"))).toEqual(nameless);
  });
});
