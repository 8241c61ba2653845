/** Clients of the stream that send what no client of ours sends: in the handshake, and over the open socket. */
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { expect, it, vi } from "vitest";
import worker from "../../../src/worker.ts";
import { countRowsWritten } from "../support/account_object.ts";
import { histories } from "../support/histories.ts";
import { BASE_URL, signInWithCredits, type SignedIn } from "../support/passbook.ts";
import { noteReadNames } from "./pages.ts";
import { hostileHeader, hostileText, isInLog, MARK } from "./values.ts";

const REQUESTS = Number(env.TEST_GENERATED_REQUESTS);
/** A share of the requests: each opens a socket. */
const SOCKETS = histories(REQUESTS / 4);

async function open(query: string, headers: Record<string, string>): Promise<Response> {
  const context = createExecutionContext();
  const request = new Request(`${BASE_URL}/api/events${query}`, {
    headers: { Upgrade: "websocket", ...headers },
  });
  const response = await worker.fetch(request, env, context);
  if (response.webSocket === null) await waitOnExecutionContext(context);
  return response;
}

const messages: fc.Arbitrary<readonly (string | Uint8Array)[]> = fc.array(
  fc.oneof(
    hostileText(),
    fc.uint8Array({ maxLength: 5_000 }),
    fc.constantFrom("ping", "pong", "read", "read 1e99", "read -5", "{}", '{"read":9e99}'),
  ),
  { minLength: 1, maxLength: 6 },
);

it(
  "no message of a client over a stream writes a row, is answered with itself, or reaches another stream",
  { tags: ["history"], timeout: 600_000 },
  async () => {
    vi.spyOn(console, "log").mockReturnValue();
    const error = vi.spyOn(console, "error").mockReturnValue();
    const ada = await signInWithCredits();
    const bearer = { Authorization: `Bearer ${ada.token}` };
    const watching = (await open("", bearer)).webSocket;
    const received: string[] = [];
    watching?.addEventListener("message", ({ data }) => void received.push(String(data)));
    watching?.accept();
    const rowsWritten = await countRowsWritten(ada.identity_id);
    await fc.assert(
      fc.asyncProperty(messages, async (sent) => {
        const socket = (await open("", bearer)).webSocket;
        if (socket === null) throw new Error("no stream");
        const answers: unknown[] = [];
        let is_closed = false;
        socket.addEventListener("message", ({ data }) => void answers.push(data));
        socket.addEventListener("close", () => void (is_closed = true));
        socket.accept();
        for (const message of sent) {
          if (!is_closed) socket.send(message);
        }
        await ada.get("/api/me");
        socket.close();
        expect(String(answers)).not.toContain(MARK);
        expect(answers.filter((it) => it !== "pong").length).toBeLessThanOrEqual(1);
      }),
      { numRuns: SOCKETS, endOnFailure: true },
    );
    expect(rowsWritten()).toBe(0);
    await runJob(ada);
    await vi.waitFor(() => expect(received.join("\n")).toContain("draw"));
    expect(received.join("\n")).not.toContain(MARK);
    expect(error.mock.calls).toEqual([]);
    watching?.close();
  },
);

async function runJob(person: SignedIn): Promise<void> {
  await person.post("/api/jobs", { app: "demo", action: "draw", cost_estimate: 1 });
}

it(
  "a hostile handshake opens no stream for anybody else, and is refused without a failure",
  { tags: ["history"], timeout: 600_000 },
  async () => {
    const log: string[] = [];
    for (const level of ["log", "warn", "error"] as const) {
      vi.spyOn(console, level).mockImplementation((line) => void log.push(JSON.stringify(line)));
    }
    const ada = await signInWithCredits();
    const names = noteReadNames();
    // The code reads its headers: in a handshake with each kind of credentials, and without any.
    for (const headers of [
      {},
      { Cookie: ada.cookies, Origin: BASE_URL },
      { "Sec-WebSocket-Protocol": `passbook, bearer.${ada.token}` },
    ]) {
      (await open("", headers)).webSocket?.accept();
    }
    const header_names = [...names.headers].filter(
      (name) => !/^(cookie$|upgrade$|cf-)/i.test(name),
    );
    expect(header_names).toContain("Last-Event-ID");
    const header = fc.tuple(
      fc.constantFrom(...header_names),
      fc.oneof(
        hostileHeader,
        hostileHeader.map((text) => `bearer.${text}`),
        fc.constant(`bearer.${ada.token}x`),
      ),
    );
    const handshakes = fc.record({
      headers: fc.array(header, { maxLength: 3 }).map((pairs) => Object.fromEntries(pairs)),
      query: fc.oneof(
        fc.constant(""),
        hostileText(2_000).map((text) => `?${new URLSearchParams({ after: text }).toString()}`),
      ),
    });
    const rowsWritten = await countRowsWritten(ada.identity_id);
    await fc.assert(
      fc.asyncProperty(handshakes, fc.boolean(), async ({ headers, query }, is_signed_in) => {
        const credentials = is_signed_in ? { Authorization: `Bearer ${ada.token}` } : {};
        const response = await open(query, { ...credentials, ...headers });
        const sent = JSON.stringify({ headers, query, is_signed_in });
        expect(response.status, sent).toBeLessThan(500);
        if (response.webSocket !== null) {
          expect(is_signed_in, sent).toBe(true);
          response.webSocket.accept();
          response.webSocket.close();
        }
        const protocol = response.headers.get("Sec-WebSocket-Protocol");
        expect([null, "passbook"], sent).toContain(protocol);
        expect(isInLog(log), sent).toBe(false);
        log.length = 0;
      }),
      { numRuns: SOCKETS, endOnFailure: true },
    );
    expect(rowsWritten()).toBe(0);
  },
);
