/** The clients that request connections: registered ones, and those that a document describes. */
import {
  addressProblem,
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
 * no such client, or its document is not usable. `limited`: too many fetches.
 */
type ClientLookup =
  | Exclude<Lookup<OAuthClient>, { readonly kind: "unknown" }>
  | UnknownClient
  | { readonly kind: "sign_in_first" }
  | { readonly kind: "limited" };

/** `problems`: the rules that its document breaks. Empty outside development: they would reveal what our network has. */
interface UnknownClient {
  readonly kind: "unknown";
  readonly problems: readonly string[];
}

export interface Clients {
  /** `count`: counts the fetch of a document; null: nobody is signed in, so nothing is fetched. It never throws. */
  resolve(client_id: string, count: CountFetch | null): Promise<ClientLookup>;
  /** The description of a document client, from its copy unless `fresh`. It never throws. */
  readDocument(client_id: string, count: CountFetch, fresh: boolean): Promise<DocumentLookup>;
  isDocumentUrl(client_id: string): boolean;
}

type DocumentLookup =
  | { readonly kind: "found"; readonly value: DocumentClient; readonly is_copy: boolean }
  | UnknownClient
  | { readonly kind: "limited" };

interface ClientsOptions {
  readonly findClient: (client_id: string) => Promise<Lookup<RegisteredClient>>;
  readonly json: PublicJson;
  /** Only in development: documents may be on this machine, and what is wrong with them is logged. */
  readonly allows_loopback: boolean;
}

export function createClients({ findClient, json, allows_loopback }: ClientsOptions): Clients {
  const isDocumentUrl = (client_id: string): boolean =>
    isClientDocumentUrl(client_id, allows_loopback);
  const unknown = (client_id: string, problems: readonly string[]): UnknownClient => {
    if (!allows_loopback || problems.length === 0) return { kind: "unknown", problems: [] };
    console.warn({ event: "client_document_refused", client_id, problems });
    return { kind: "unknown", problems };
  };
  const readDocument: Clients["readDocument"] = async (client_id, count, fresh) => {
    const parse = (document: unknown) => readClientDocument(client_id, document, allows_loopback);
    const problemsOf = (document: unknown): readonly string[] => {
      const parsed = parse(document);
      return parsed.ok ? [] : parsed.refusal;
    };
    const wanted = { max_bytes: CLIENT_DOCUMENT_MAX_BYTES, problemsOf, fresh };
    const read = await json.read(client_id, wanted, count);
    if (read.kind === "limited") return { kind: "limited" };
    if (read.kind === "unusable") return unknown(client_id, read.problems);
    const client = parse(read.value);
    if (!client.ok) return unknown(client_id, client.refusal);
    return { kind: "found", value: client.value, is_copy: read.kind === "copy" };
  };
  return {
    isDocumentUrl,
    readDocument,
    async resolve(client_id, count) {
      if (isDocumentUrl(client_id)) {
        return count === null ? { kind: "sign_in_first" } : readDocument(client_id, count, false);
      }
      const found = await findClient(client_id);
      if (found.kind !== "unknown") return found;
      const problem = /^https?:/i.test(client_id)
        ? addressProblem(client_id, allows_loopback)
        : null;
      return unknown(client_id, problem === null ? [] : [problem]);
    },
  };
}
