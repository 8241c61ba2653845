/** A server on this machine that receives one redirect of the browser (RFC 8252, section 7.3). */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { PassbookError } from "../client/index.ts";

interface Loopback {
  readonly port: number;
  /** The address that the browser opened. @throws PassbookError `expired_token` if the person took too long */
  returned(): Promise<string>;
  close(): void;
}

/** Longer than a person needs to sign in with a second factor and read the page. */
const WAIT_MS = 10 * 60 * 1000;

const DONE = `<!doctype html><meta charset="utf-8"><title>Passbook</title>
<p>You can close this window. The terminal shows the result.</p>
`;

/** Opens the server on a free port. Only programs of this machine reach it. */
export async function openLoopback(path: string): Promise<Loopback> {
  const server = createServer();
  let late: NodeJS.Timeout | undefined;
  const promise = new Promise<string>((resolve, reject) => {
    server.on("request", (request, response) => {
      const is_return = request.method === "GET" && request.url?.split("?")[0] === path;
      if (!is_return) return respond(response, 404, "Not found");
      respond(response, 200, DONE);
      return resolve(`http://127.0.0.1${request.url ?? ""}`);
    });
    const message = "The connection was not approved in time. Run the command again.";
    late = setTimeout(() => reject(new PassbookError("expired_token", message)), WAIT_MS);
  });
  // The caller may close the server before it waits.
  promise.catch(() => {});
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    port: (server.address() as AddressInfo).port,
    returned: () => promise,
    close() {
      clearTimeout(late);
      server.close();
      server.closeIdleConnections();
    },
  };
}

function respond(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, {
    "Content-Type": "text/html; charset=utf-8",
    // The address has a code, which must not reach another site.
    "Referrer-Policy": "no-referrer",
    Connection: "close",
  });
  response.end(body);
}
