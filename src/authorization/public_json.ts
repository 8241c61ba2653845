/** JSON documents of other people's servers, fetched within strict limits and copied to KV. */
import { waitUntil } from "cloudflare:workers";
import { CLIENT_DOCUMENT_TIMEOUT_MS, copySeconds, isJsonType } from "../domain/client_document.ts";
import { errorName } from "../domain/result.ts";
import { requestUpstream } from "../oauth/ask.ts";

/** Counts a fetch from a host. False: too many, so it does not happen. */
export type CountFetch = (host: string) => Promise<boolean>;

/** `unusable`: for every reason, so that our responses reveal nothing about addresses in our network. */
export type JsonDocument =
  | { readonly kind: "copy" | "fetched"; readonly value: unknown }
  | { readonly kind: "unusable" | "limited" };

export interface PublicJson {
  /** The stored copy, or null. It never throws. */
  recall(url: string): Promise<unknown>;
  /** Fetches a document of at most `max_bytes`, and copies it if `isValid` accepts it. It never throws. */
  request(
    url: string,
    max_bytes: number,
    count: CountFetch,
    isValid: (value: unknown) => boolean,
  ): Promise<JsonDocument>;
}

/** A copy is only a hint that saves a fetch: everything works, only slower, without it. */
export function createPublicJson(copies: KVNamespace): PublicJson {
  const keep = async (url: string, text: string, expirationTtl: number): Promise<void> => {
    try {
      await copies.put(url, text, { expirationTtl });
    } catch (error) {
      console.warn({ event: "client_document_copy_write_failed", reason: errorName(error) });
    }
  };
  return {
    async recall(url) {
      try {
        return await copies.get(url, "json");
      } catch (error) {
        console.warn({ event: "client_document_copy_read_failed", reason: errorName(error) });
        return null;
      }
    },
    async request(url, max_bytes, count, isValid) {
      if (!(await count(new URL(url).host))) return { kind: "limited" };
      try {
        const limits = { max_bytes, timeout_ms: CLIENT_DOCUMENT_TIMEOUT_MS };
        const headers = { Accept: "application/json" };
        const response = await requestUpstream(url, { headers }, limits);
        // A redirect has another status.
        if (response.status !== 200 || !isJsonType(response.headers.get("Content-Type"))) {
          return { kind: "unusable" };
        }
        const value: unknown = JSON.parse(response.text);
        if (!isValid(value)) return { kind: "unusable" };
        const seconds = copySeconds(response.headers.get("Cache-Control"));
        waitUntil(keep(url, JSON.stringify(value), seconds));
        return { kind: "fetched", value };
      } catch {
        return { kind: "unusable" };
      }
    },
  };
}
