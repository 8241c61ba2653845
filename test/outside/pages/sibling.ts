/** A malicious sibling host over https: it sets cookies and reads them. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Certificate } from "./certificate.ts";

export interface Sibling {
  /** A URL there that responds with this `Set-Cookie` value. */
  setting(set_cookie: string): string;
  /** A URL there that records the cookies it receives. */
  readonly reading: string;
  /** The `Cookie` headers that it received. */
  readonly read: readonly string[];
  stop(): void;
}

/** Serves `host`, a name under `localhost`. */
export async function startSibling(host: string, certificate: Certificate): Promise<Sibling> {
  const read: string[] = [];
  const key = await readFile(certificate.key_path);
  const cert = await readFile(certificate.certificate_path);
  const server = createServer({ key, cert }, (request, response) => {
    const { searchParams } = new URL(request.url ?? "/", "https://sibling");
    const set_cookie = searchParams.get("set");
    read.push(request.headers.cookie ?? "");
    if (set_cookie !== null) response.setHeader("Set-Cookie", set_cookie);
    response.setHeader("Content-Type", "text/html");
    response.end("<!doctype html><title>Sibling</title><h1>Sibling</h1>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `https://${host}:${(server.address() as AddressInfo).port}`;
  return {
    setting: (set_cookie) => `${origin}/?${new URLSearchParams({ set: set_cookie }).toString()}`,
    reading: `${origin}/`,
    read,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
