import { beforeEach, describe, expect, it, vi } from "vitest";
import { createClients } from "../../../src/authorization/clients.ts";
import { createPublicJson, type CountFetch } from "../../../src/authorization/public_json.ts";
import { CHATGPT, CLAUDE, CLIENT_DOCUMENTS, CURSOR } from "../support/client_documents.ts";
import { passTime } from "../support/clock.ts";
import { json, MemoryCopies, serveDocuments } from "../support/client_servers.ts";

const CLIENT_ID = CLAUDE.client_id;
const anyNumber: CountFetch = async () => true;
const noNumber: CountFetch = async () => false;
const DAY_MS = 24 * 60 * 60 * 1000;

let kept: MemoryCopies;
beforeEach(() => (kept = new MemoryCopies()));

const open = (copies: KVNamespace = kept.namespace, allows_loopback = false) =>
  createClients({
    findClient: async () => ({ kind: "unknown" }),
    json: createPublicJson({ copies, keeps_copies: !allows_loopback }),
    allows_loopback,
  });

describe("a client that a document describes", () => {
  it.each(CLIENT_DOCUMENTS.map((document) => [document.client_name, document] as const))(
    "%s is found by the address of its document",
    async (name, document) => {
      serveDocuments({ [document.client_id]: () => json(document) });
      const found = await open().resolve(document.client_id, anyNumber);
      expect(found).toMatchObject({ kind: "found", value: { kind: "document", name } });
    },
  );

  it("for a person who is not signed in, nothing is fetched and no copy is read", async () => {
    const fetched = serveDocuments({ [CLIENT_ID]: () => json(CLAUDE) });
    const read = vi.spyOn(kept, "get");
    expect(await open().resolve(CLIENT_ID, null)).toEqual({ kind: "sign_in_first" });
    expect([fetched, read.mock.calls]).toEqual([[], []]);
  });

  it("a document is fetched once, and then its copy is used and checked again", async () => {
    const fetched = serveDocuments({ [CLIENT_ID]: () => json(CLAUDE) });
    await open().resolve(CLIENT_ID, anyNumber);
    expect(await kept.get(CLIENT_ID)).toMatchObject({ value: CLAUDE });
    expect((await open().resolve(CLIENT_ID, anyNumber)).kind).toBe("found");
    expect(fetched).toHaveLength(1);
    const of_another = { value: CURSOR, fresh_until_ms: Date.now() + 60_000 };
    kept.copies.set(CLIENT_ID, JSON.stringify(of_another));
    await open().resolve(CLIENT_ID, anyNumber);
    expect(fetched).toHaveLength(2);
  });

  it("a copy expires when its server says, within five minutes and a day", async () => {
    const used_s: number[] = [];
    for (const max_age of [60, 3_600, 864_000]) {
      const headers = { "Cache-Control": `public, max-age=${max_age}` };
      serveDocuments({ [CLIENT_ID]: () => json(CLAUDE, headers) });
      kept.copies.clear();
      const now_ms = Date.now();
      await open().resolve(CLIENT_ID, anyNumber);
      const { fresh_until_ms } = (await kept.get(CLIENT_ID)) as { fresh_until_ms: number };
      used_s.push(Math.floor((fresh_until_ms - now_ms) / 1000));
    }
    expect(used_s).toEqual([300, 3_600, 86_400]);
  });

  it("a client is found while KV is unavailable", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const fail = async (): Promise<never> => Promise.reject(new Error("KV is down"));
    serveDocuments({ [CLIENT_ID]: () => json(CLAUDE) });
    const down = { get: fail, put: fail } as unknown as KVNamespace;
    expect((await open(down).resolve(CLIENT_ID, anyNumber)).kind).toBe("found");
  });

  it("a fetch that is not counted does not happen", async () => {
    const fetched = serveDocuments({ [CLIENT_ID]: () => json(CLAUDE) });
    expect(await open().resolve(CLIENT_ID, noNumber)).toEqual({ kind: "limited" });
    expect(fetched).toEqual([]);
  });

  it("an address that gave a valid document is found although nothing more may be fetched, by its copy and when that is old", async () => {
    const fetched = serveDocuments({ [CLIENT_ID]: () => json(CLAUDE) });
    const clients = open();
    await clients.resolve(CLIENT_ID, anyNumber);
    passTime(2 * DAY_MS);
    for (const it of [clients, open()]) {
      passTime(2 * DAY_MS);
      expect((await it.resolve(CLIENT_ID, noNumber)).kind).toBe("found");
    }
    expect(fetched).toHaveLength(3);
    const again = await clients.readDocument(CLIENT_ID, noNumber, true);
    expect(again).toMatchObject({ kind: "found", is_copy: true });
    expect(fetched).toHaveLength(3);
  });

  it("an address that stopped to give a valid document is counted again", async () => {
    const clients = open();
    serveDocuments({ [CLIENT_ID]: () => json(CLAUDE) });
    await clients.resolve(CLIENT_ID, anyNumber);
    const fetched = serveDocuments({ [CLIENT_ID]: () => json("{") });
    passTime(DAY_MS);
    expect(await clients.resolve(CLIENT_ID, noNumber)).toEqual({ kind: "unknown", problems: [] });
    expect((await clients.resolve(CLIENT_ID, noNumber)).kind).toBe("found");
    expect(fetched).toHaveLength(1);
  });

  it("the request has no cookies, no credentials, and follows no redirect", async () => {
    const requests: Request[] = [];
    const keep = (request: Request): Response => {
      requests.push(request);
      return json(CLAUDE);
    };
    serveDocuments({ [CLIENT_ID]: keep });
    await open().resolve(CLIENT_ID, anyNumber);
    const [request] = requests;
    expect(request?.redirect).toBe("manual");
    expect(Object.fromEntries(request?.headers ?? [])).toEqual({
      accept: "application/json",
      "user-agent": "passbook",
    });
  });
});

describe("a hostile server", () => {
  const TYPE = { headers: { "Content-Type": "application/json" } };
  const padded = (bytes: number): string => {
    const text = JSON.stringify({ ...CLAUDE, padding: "" });
    return text.replace('"padding":""', `"padding":"${"x".repeat(bytes - text.length)}"`);
  };

  it.each([
    [
      "redirects to a valid document",
      "is a redirect",
      () => Response.redirect("https://claude.ai/other", 302),
    ],
    [
      "responds with 404",
      "status 404",
      () => new Response(json(CLAUDE).body, { ...TYPE, status: 404 }),
    ],
    [
      "responds with 500",
      "status 500",
      () => new Response(json(CLAUDE).body, { ...TYPE, status: 500 }),
    ],
    ["sends 6 KiB", "more than 5120 bytes", () => json(padded(6 * 1024))],
    ["sends one byte too much", "more than 5120 bytes", () => json(padded(5 * 1024 + 1))],
    [
      "sends the document of another client",
      "client_id must be",
      () => json({ ...CLAUDE, client_id: CURSOR.client_id }),
    ],
    ["sends HTML", "Content-Type is", () => json(CLAUDE, { "Content-Type": "text/html" })],
    [
      "sends no media type",
      "Content-Type is missing",
      () => new Response(new TextEncoder().encode(JSON.stringify(CLAUDE))),
    ],
    ["sends a text that is not JSON", "is not JSON", () => json("{")],
    ["sends null", "not a JSON object", () => json("null")],
    [
      "sends bytes that are not UTF-8",
      "not UTF-8",
      () =>
        new Response(new Uint8Array([0x22, 0xff, 0x22]), {
          headers: { "Content-Type": "application/json" },
        }),
    ],
    ["sends nothing", "is not JSON", () => json("")],
  ])(
    "that %s makes its client unknown, no copy is kept, and only development says why",
    async (_, rule, serve) => {
      const fetched = serveDocuments({
        [CLIENT_ID]: serve,
        "https://claude.ai/other": () => json(CLAUDE),
      });
      expect(await open().resolve(CLIENT_ID, anyNumber)).toEqual({ kind: "unknown", problems: [] });
      expect(fetched).toEqual([CLIENT_ID]);
      expect(kept.copies.size).toBe(0);
      const logged = vi.spyOn(console, "warn").mockReturnValue();
      const problems = [expect.stringContaining(rule)];
      const explained = { kind: "unknown", problems };
      expect(await open(kept.namespace, true).resolve(CLIENT_ID, anyNumber)).toEqual(explained);
      const event = "client_document_refused";
      expect(logged.mock.calls).toEqual([[{ event, client_id: CLIENT_ID, problems }]]);
    },
  );

  it("a document of exactly 5 KiB is accepted", async () => {
    serveDocuments({ [CLIENT_ID]: () => json(padded(5 * 1024)) });
    expect((await open().resolve(CLIENT_ID, anyNumber)).kind).toBe("found");
  });

  it.each([
    ["never responds", () => new Promise<Response>(() => undefined)],
    [
      "sends the start of a document and then nothing",
      () =>
        new Response(
          new ReadableStream({ start: (body) => body.enqueue(new TextEncoder().encode("{")) }),
          { headers: { "Content-Type": "application/json" } },
        ),
    ],
  ])("that %s makes its client unknown after five seconds", async (_, serve) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    vi.spyOn(globalThis, "fetch").mockImplementation(async (_url, init) => {
      const aborted = new Promise<never>((_resolve, reject) => {
        init?.signal?.addEventListener("abort", () => reject(new Error("aborted")));
      });
      return Promise.race([serve(), aborted]);
    });
    let result: unknown = "waiting";
    void open()
      .resolve(CLIENT_ID, anyNumber)
      .then((found) => (result = found));
    await vi.advanceTimersByTimeAsync(4_999);
    expect(result).toBe("waiting");
    await vi.advanceTimersByTimeAsync(1);
    expect(result).toEqual({ kind: "unknown", problems: [] });
  });

  it.each([
    "https://10.0.0.1/client",
    "https://169.254.169.254/latest/meta-data",
    "https://[::1]/client",
    "https://localhost/client",
    "https://metadata.google.internal/client",
    "https://claude.ai:8443/client",
    "http://claude.ai/client",
    "http://127.0.0.1:4000/client",
  ])("at %s is never asked", async (client_id) => {
    const fetched = serveDocuments({ [client_id]: () => json({ ...CLAUDE, client_id }) });
    expect(await open().resolve(client_id, anyNumber)).toEqual({ kind: "unknown", problems: [] });
    expect(fetched).toEqual([]);
  });

  it("development keeps no copy, so a mended document works at once", async () => {
    const clients = open(kept.namespace, true);
    vi.spyOn(console, "warn").mockReturnValue();
    serveDocuments({ [CLIENT_ID]: () => json({ ...CLAUDE, redirect_uris: [] }) });
    expect((await clients.resolve(CLIENT_ID, anyNumber)).kind).toBe("unknown");
    const fetched = serveDocuments({ [CLIENT_ID]: () => json(CLAUDE) });
    for (const _ of [1, 2])
      expect((await clients.resolve(CLIENT_ID, anyNumber)).kind).toBe("found");
    expect([fetched.length, kept.copies.size]).toEqual([2, 0]);
  });

  it("development says what is wrong with an address that cannot be of a document", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const found = await open(kept.namespace, true).resolve("http://claude.ai/client", anyNumber);
    expect(found).toMatchObject({ problems: [expect.stringContaining("must be https")] });
  });

  it("a document on this machine is fetched only in development", async () => {
    const client_id = "http://127.0.0.1:4000/client.json";
    serveDocuments({ [client_id]: () => json({ ...CHATGPT, client_id }) });
    const found = await open(kept.namespace, true).resolve(client_id, anyNumber);
    expect(found).toMatchObject({ kind: "found", value: { host: "127.0.0.1:4000" } });
  });
});
