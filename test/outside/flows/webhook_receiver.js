/**
 * A receiver of webhooks as a process of its own: it fails, hangs and breaks connections at random, but at most twice for
 * one event, because the pause after the fourth failure is longer than the test. Before it accepts an event it writes it
 * to a file, one line for each, so nothing that it accepted is lost when it is killed. Arguments: port, file, secret.
 */
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

const [port, file, secret] = process.argv.slice(2);
const verifier = new Webhook(secret);
const FAILURES_MAX = 2;
/** How often each event failed, by its id. */
const failures = new Map();

createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (chunk) => (body += chunk));
  request.on("end", () => {
    const event = verifier.verify(body, request.headers);
    const id = request.headers["webhook-id"];
    const failed = failures.get(id) ?? 0;
    const fate = failed < FAILURES_MAX ? Math.random() : 1;
    if (fate < 0.044) failures.set(id, failed + 1);
    if (fate < 0.02) return response.writeHead(500).end("failure");
    if (fate < 0.03) return request.socket.destroy();
    // Never responds.
    if (fate < 0.034) return;
    appendFileSync(file, `${JSON.stringify({ id, ...event })}\n`);
    // The response is lost, so the event comes again.
    if (fate < 0.044) return request.socket.destroy();
    response.writeHead(204).end();
  });
}).listen(Number(port), "127.0.0.1");
