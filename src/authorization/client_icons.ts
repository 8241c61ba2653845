/** Copies of the icons that documents of clients name, in KV. People see only the copies, from our own origin. */
import { waitUntil } from "cloudflare:workers";
import type { AppIconType } from "../domain/app_icon.ts";
import { errorName, type Result } from "../domain/result.ts";
import type { CountFetch } from "./public_json.ts";

interface ClientIcon {
  readonly media_type: AppIconType;
  readonly bytes: Uint8Array | ArrayBuffer;
}

export interface ClientIcons {
  /** The picture at an address; null: none that can be shown. `count`: counts a fetch. It never throws. */
  read(url: string, count: CountFetch): Promise<ClientIcon | null>;
}

interface ClientIconsOptions {
  readonly copies: KVNamespace;
  readonly copy: (url: string) => Promise<Result<ClientIcon, unknown>>;
}

const COPY_TTL_SECONDS = 24 * 60 * 60;

export function createClientIcons({ copies, copy }: ClientIconsOptions): ClientIcons {
  const recall = async (key: string): Promise<ClientIcon | null> => {
    try {
      const found = await copies.getWithMetadata<Pick<ClientIcon, "media_type">>(
        key,
        "arrayBuffer",
      );
      const { value, metadata } = found;
      return value === null || metadata === null ? null : { ...metadata, bytes: value };
    } catch (error) {
      console.warn({ event: "client_document_copy_read_failed", reason: errorName(error) });
      return null;
    }
  };
  const keep = async (key: string, { media_type, bytes }: ClientIcon): Promise<void> => {
    try {
      const options = { expirationTtl: COPY_TTL_SECONDS, metadata: { media_type } };
      await copies.put(key, bytes, options);
    } catch (error) {
      console.warn({ event: "client_document_copy_write_failed", reason: errorName(error) });
    }
  };
  return {
    async read(url, count) {
      // No document has such an address.
      const key = `icon ${url}`;
      const known = await recall(key);
      if (known !== null || !(await count())) return known;
      const copied = await copy(url);
      if (!copied.ok) return null;
      waitUntil(keep(key, copied.value));
      return copied.value;
    },
  };
}
