/**
 * The Worker, which reads documents of https hosts from a server of the tests: clients publish their documents under https
 * only, and no test reaches the network.
 */
import { env } from "cloudflare:workers";

export { default } from "../../../src/worker.ts";
export * from "../../../src/worker.ts";

/** All documents of the tests are on hosts of this domain, which nobody can own (RFC 2606). */
const HOSTS = /^https:\/\/([a-z]+)\.example\.com\//;

const { TEST_CLIENT_DOCUMENTS } = env as unknown as { readonly TEST_CLIENT_DOCUMENTS: string };
const fetchFromNetwork = globalThis.fetch;

globalThis.fetch = (input: RequestInfo | URL, init?: RequestInit) => {
  const address = input instanceof Request ? input.url : String(input);
  const inside = address.replace(HOSTS, `${TEST_CLIENT_DOCUMENTS}/$1/`);
  return fetchFromNetwork(inside, init);
};
