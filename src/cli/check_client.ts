/** `passbook check-client`: checks the document that describes an OAuth client, with the rules of the service. */
import { PassbookError } from "../client/index.ts";
import {
  addressProblem,
  CLIENT_DOCUMENT_MAX_BYTES,
  CLIENT_DOCUMENT_TIMEOUT_MS,
  documentFailure,
  readClientDocument,
  responseProblem,
} from "../domain/client_document.ts";
import { isLoopbackHost } from "../domain/origins.ts";
import type { DocumentClient } from "../domain/oauth_client.ts";
import { accepted, refused, type Result } from "../domain/result.ts";
import { plain, print } from "./output.ts";
import type { GlobalOptions } from "./session.ts";

/** Prints what the service reads from the document, or each rule that it breaks; the exit code is then 1. */
export async function checkClient(address: string, options: GlobalOptions): Promise<void> {
  if (!URL.canParse(address)) {
    throw new PassbookError(
      "invalid_argument",
      "Name the https address of your client's document.",
    );
  }
  const is_local = isLoopbackHost(new URL(address).hostname);
  const checked = await check(address, is_local);
  if (!checked.ok) {
    process.exitCode = 1;
    const problems = checked.refusal;
    return print(options, { valid: false, problems }, () =>
      [`${plain(address)} breaks these rules:`, ...problems.map((it) => `- ${plain(it)}`)].join(
        "\n",
      ),
    );
  }
  print(options, { valid: true, client: checked.value }, () => textOf(checked.value, is_local));
}

async function check(
  address: string,
  is_local: boolean,
): Promise<Result<DocumentClient, readonly string[]>> {
  const problem = addressProblem(address, is_local);
  if (problem !== null) return refused([problem]);
  const body = await read(address);
  return body.ok ? readClientDocument(address, body.value, is_local) : body;
}

async function read(address: string): Promise<Result<unknown, readonly string[]>> {
  let text: string;
  try {
    const response = await fetch(address, {
      headers: { Accept: "application/json" },
      redirect: "manual",
      signal: AbortSignal.timeout(CLIENT_DOCUMENT_TIMEOUT_MS),
    });
    const problem = responseProblem(response.status, response.headers.get("Content-Type"));
    if (problem !== null) return refused([problem]);
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (bytes.byteLength > CLIENT_DOCUMENT_MAX_BYTES)
      return refused([documentFailure("too_large")]);
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    return refused([
      documentFailure(error instanceof TypeError && isEncoding(error) ? "not_utf8" : "network"),
    ]);
  }
  try {
    return accepted(JSON.parse(text));
  } catch {
    return refused([documentFailure("not_json")]);
  }
}

/** A failed fetch is a `TypeError` too. */
function isEncoding(error: TypeError & { readonly code?: string }): boolean {
  return error.code === "ERR_ENCODING_INVALID_ENCODED_DATA";
}

function textOf(client: DocumentClient, is_local: boolean): string {
  const { name, host, redirect_uris, token_endpoint_auth_methods } = client;
  return [
    `The document is valid. People see the name “${plain(name)}” with the host ${plain(host)}.`,
    ...redirect_uris.map((uri) => `Redirect address  ${plain(uri)}`),
    `Authentication    ${token_endpoint_auth_methods.join(", ")}`,
    ...(is_local ? ["Only a service in development reads documents on this machine."] : []),
  ].join("\n");
}
