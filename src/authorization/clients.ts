/** The clients that request connections: registered ones, and those that a document describes. */
import {
  CLIENT_DOCUMENT_MAX_BYTES,
  isClientDocumentUrl,
  readClientDocument,
} from "../domain/client_document.ts";
import type {
  DocumentClient,
  Lookup,
  OAuthClient,
  RegisteredClient,
} from "../domain/oauth_client.ts";
import type { CountFetch, PublicJson } from "./public_json.ts";

/**
 * `sign_in_first`: the client is described by a document, which is fetched only for a signed-in person. `unknown`: there is
 * no such client, or its document is not usable; the reason is not given. `limited`: too many fetches.
 */
type ClientLookup =
  | Lookup<OAuthClient>
  | { readonly kind: "sign_in_first" }
  | { readonly kind: "limited" };

export interface Clients {
  /** `count`: counts the fetch of a document; null: nobody is signed in, so nothing is fetched. It never throws. */
  resolve(client_id: string, count: CountFetch | null): Promise<ClientLookup>;
  /** The description of a document client, from its copy unless `fresh`. It never throws. */
  readDocument(client_id: string, count: CountFetch, fresh: boolean): Promise<DocumentLookup>;
  isDocumentUrl(client_id: string): boolean;
}

type DocumentLookup =
  | { readonly kind: "found"; readonly value: DocumentClient; readonly is_copy: boolean }
  | { readonly kind: "unknown" | "limited" };

interface ClientsOptions {
  readonly findClient: (client_id: string) => Promise<Lookup<RegisteredClient>>;
  readonly json: PublicJson;
  /** Only in development: documents may be on this machine. */
  readonly allows_loopback: boolean;
}

export function createClients({ findClient, json, allows_loopback }: ClientsOptions): Clients {
  const isDocumentUrl = (client_id: string): boolean =>
    isClientDocumentUrl(client_id, allows_loopback);
  const readDocument: Clients["readDocument"] = async (client_id, count, fresh) => {
    const parse = (document: unknown) => readClientDocument(client_id, document, allows_loopback);
    const isValid = (document: unknown): boolean => parse(document) !== null;
    const wanted = { max_bytes: CLIENT_DOCUMENT_MAX_BYTES, isValid, fresh };
    const read = await json.read(client_id, wanted, count);
    const value = "value" in read ? parse(read.value) : null;
    if (value === null) return { kind: read.kind === "limited" ? "limited" : "unknown" };
    return { kind: "found", value, is_copy: read.kind === "copy" };
  };
  return {
    isDocumentUrl,
    readDocument,
    async resolve(client_id, count) {
      if (!isDocumentUrl(client_id)) return findClient(client_id);
      return count === null ? { kind: "sign_in_first" } : readDocument(client_id, count, false);
    },
  };
}
