/** An operators' operation as data, for the client and for programs such as the command line. */

export interface AdminOperation {
  /** The `operationId` of the API document, and the name of the call. */
  readonly id: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With the names of its fields in braces. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  /** Takes an idempotency key. */
  readonly keyed?: true;
  /** Also responds with CSV. */
  readonly csv?: true;
  /** Those of the path come first. */
  readonly fields: readonly AdminField[];
  /** The fields that a response always has, for each of its forms. */
  readonly shapes: readonly (readonly string[])[];
}

/** A field of an operators' call. */
export interface AdminField {
  /** In camelCase. The API's name has the same words with `_`. */
  readonly name: string;
  readonly in: "path" | "query" | "body";
  readonly kind: "text" | "number" | "flag" | "cap" | "rule" | "time" | "day";
  readonly required?: true;
  readonly nullable?: true;
  readonly list?: true;
  /** The only values that it may have. */
  readonly values?: readonly unknown[];
  readonly min?: number;
  readonly max?: number;
}
