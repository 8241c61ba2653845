import { afterEach, describe, expect, it, vi } from "vitest";
import { APP, rows } from "../../../caller/app_server.ts";
import { send } from "../../../../support/passbook.ts";
import { signInOperator, type Operator } from "../operators.ts";

const ICON = "https://sketch.example.com/icon.png";
const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);
const text = (content: string) => new Uint8Array(new TextEncoder().encode(content));

afterEach(() => vi.restoreAllMocks());

/** Makes the network respond with this picture, and returns the requests that it got. */
function respondWith(respond: () => Response | Promise<Response>): [string, RequestInit][] {
  const requests: [string, RequestInit][] = [];
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init = {}) => {
    requests.push([new Request(input).url, init]);
    return respond();
  });
  return requests;
}

const save = (operator: Operator, slug: string, settings: object) =>
  operator.send("PUT", `/api/admin/apps/${slug}`, { ...APP, ...settings });

async function hashOf(slug: string): Promise<string> {
  const [row] = await rows(`select icon_hash from apps where slug = '${slug}'`);
  return String(row?.["icon_hash"]);
}

describe("icons of apps", () => {
  it("saving an icon copies it once, and anybody gets the copy from our own origin", async () => {
    const operator = await signInOperator();
    const requests = respondWith(
      () => new Response(PNG, { headers: { "Content-Type": "text/html", "Set-Cookie": "a=b" } }),
    );
    expect((await save(operator, "sketch", { icon: ICON })).status).toBe(200);
    expect(requests).toMatchObject([[ICON, { redirect: "manual" }]]);
    const path = `/app-icons/${await hashOf("sketch")}`;
    const served = await send("GET", path, {}, operator.settings);
    expect(served.status).toBe(200);
    expect(Object.fromEntries(served.headers)).toMatchObject({
      "content-type": "image/png",
      "cache-control": "public, max-age=31536000, immutable",
      "x-content-type-options": "nosniff",
      "content-security-policy": expect.stringContaining("default-src 'none'"),
    });
    expect(served.headers.get("Set-Cookie")).toBe(null);
    const [app] = (await operator.get("/api/admin/apps")).body.apps;
    expect(app).toMatchObject({ icon: ICON, granted_today: 0 });
    expect(app).not.toHaveProperty("icon_hash");
    // The same address again is not fetched again.
    expect((await save(operator, "sketch", { icon: ICON, version: 1 })).status).toBe(200);
    expect(requests).toHaveLength(1);
  });

  it("a save that omits the icon keeps it, and null removes it with its copy", async () => {
    const operator = await signInOperator();
    respondWith(() => new Response(PNG));
    await save(operator, "sketch", { icon: ICON });
    await save(operator, "twin", { icon: "https://twin.example.com/icon" });
    await save(operator, "sketch", { version: 1 });
    const hash = await hashOf("sketch");
    expect(await hashOf("twin")).toBe(hash);
    await save(operator, "sketch", { icon: null, version: 2 });
    expect(await rows("select icon, icon_hash from apps where slug = 'sketch'")).toEqual([
      { icon: null, icon_hash: null },
    ]);
    expect(await rows("select hash from app_icons")).toEqual([{ hash }]);
    await save(operator, "twin", { icon: null, version: 1 });
    expect(await rows("select hash from app_icons")).toEqual([]);
    expect((await send("GET", `/app-icons/${hash}`, {}, operator.settings)).status).toBe(404);
  });

  it("a save that loses against another one stores no icon", async () => {
    const operator = await signInOperator();
    respondWith(() => new Response(PNG));
    await save(operator, "sketch", {});
    const lost = await save(operator, "sketch", { icon: ICON });
    expect(lost).toMatchObject({ status: 409, body: { code: "app_changed" } });
    expect(await rows("select hash from app_icons")).toEqual([]);
  });

  it.each([
    ["an SVG", () => new Response(text("<svg xmlns='http://www.w3.org/2000/svg'/>")), "not a PNG"],
    ["a page", () => new Response(text("<!doctype html>")), "not a PNG"],
    ["an empty body", () => new Response(null), "not a PNG"],
    ["64 KiB and a byte", () => new Response(new Uint8Array(64 * 1024 + 1)), "larger than 64 KiB"],
    ["a redirect", () => Response.redirect("https://10.0.0.1/", 302), "status 200"],
    ["an error", () => new Response(PNG, { status: 500 }), "status 200"],
    ["no connection", () => Promise.reject(new TypeError("network")), "could not be reached"],
  ])(
    "an icon that is %s is refused with its reason and changes nothing",
    async (_, respond, why) => {
      const operator = await signInOperator();
      respondWith(respond);
      const refused = await save(operator, "sketch", { icon: ICON });
      expect(refused).toMatchObject({ status: 400, body: { code: "invalid_request" } });
      expect(refused.body.error).toMatch(/^The icon could not be copied: /);
      expect(refused.body.error).toContain(why);
      expect(await rows("select * from apps")).toEqual([]);
      expect(await rows("select * from app_icons")).toEqual([]);
    },
  );

  it("an icon whose bytes arrive too slowly is refused after the time limit", async () => {
    const operator = await signInOperator();
    const start = globalThis.setTimeout;
    vi.spyOn(globalThis, "setTimeout").mockImplementation(((run: () => void, delay_ms?: number) =>
      start(run, delay_ms === 5_000 ? 0 : delay_ms)) as typeof setTimeout);
    respondWith(() => new Response(new ReadableStream({ start: (part) => part.enqueue(PNG) })));
    const refused = await save(operator, "sketch", { icon: ICON });
    expect(refused.body).toMatchObject({ code: "invalid_request" });
    expect(refused.body.error).toContain("longer than 5 seconds");
  });

  it.each([
    "http://sketch.example.com/icon.png",
    "https://user:secret@sketch.example.com/icon.png",
    "https://sketch.example.com:8443/icon.png",
    "https://127.0.0.1/icon.png",
    "https://0x7f.1/icon.png",
    "https://2130706433/icon.png",
    "https://[::1]/icon.png",
    "https://[fd00::1]/icon.png",
    "https://localhost/icon.png",
    "https://intranet/icon.png",
    "https://router.lan/icon.png",
    "https://metadata.google.internal/icon.png",
    "https://metadata.google.internal./icon.png",
    "https://1.0.0.10.in-addr.arpa/icon.png",
    "data:image/png;base64,AAAA",
    "//sketch.example.com/icon.png",
    "",
    7,
  ])("the icon address %s is refused and not fetched", async (icon) => {
    const operator = await signInOperator();
    const requests = respondWith(() => new Response(PNG));
    const refused = await save(operator, "sketch", { icon });
    expect(refused).toMatchObject({ status: 400, body: { code: "invalid_request" } });
    expect(refused.body.error).toMatch(/^icon must be /);
    expect(requests).toEqual([]);
  });

  it.each([
    ["image/jpeg", [0xff, 0xd8, 0xff, 0xe0, 0]],
    ["image/webp", [...text("RIFF....WEBPVP8 ")]],
    ["image/x-icon", [0, 0, 1, 0, 1, 0]],
  ])("the copy is served as %s, whatever the icon's server says", async (type, bytes) => {
    const operator = await signInOperator();
    respondWith(() => new Response(new Uint8Array(bytes)));
    await save(operator, "sketch", { icon: ICON });
    const served = await send("GET", `/app-icons/${await hashOf("sketch")}`, {}, operator.settings);
    expect(served.headers.get("Content-Type")).toBe(type);
  });

  it("an address of no app's icon reads no store", async () => {
    const operator = await signInOperator();
    await save(operator, "sketch", {});
    const { DIRECTORY } = (await import("cloudflare:workers")).env;
    await send("GET", "/app-icons/warm", {}, operator.settings);
    const prepare = vi.spyOn(Object.getPrototypeOf(DIRECTORY), "prepare");
    const missing = await send("GET", `/app-icons/${"a".repeat(32)}`, {}, operator.settings);
    expect(missing.status).toBe(404);
    expect(missing.headers.get("Cache-Control")).toBe("no-store");
    expect(prepare).not.toHaveBeenCalled();
  });
});
