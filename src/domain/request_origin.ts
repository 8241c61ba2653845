/**
 * The request that an object works for, so that what the object logs can be found by the request's id. An object runs
 * synchronous code of one call at a time, so a variable suffices; code after an `await` keeps the value that it read before.
 */

/** The last argument that the Worker adds to a call. The object removes it before its method sees the others. */
export interface CallOrigin {
  readonly passbook_request_id: string;
}

/** The header of a request to an object, which has no arguments. */
export const REQUEST_ID_HEADER = "Passbook-Request-Id";

let current_id: string | null = null;

/** Runs the synchronous part of `work` for a request. Null: what is running goes on. */
export function duringRequest<Value>(request_id: string | null, work: () => Value): Value {
  const outer_id = current_id;
  current_id = request_id ?? outer_id;
  try {
    return work();
  } finally {
    current_id = outer_id;
  }
}

/** The request's id as a field of a log line; no field if no request caused this. */
export function requestFields(): { readonly request_id?: string } {
  return current_id === null ? {} : { request_id: current_id };
}

/** Removes the origin from the arguments of a call. @returns the request's id, or null */
export function takeOrigin(values: unknown[]): string | null {
  const last = values.at(-1);
  if (last instanceof Request) return last.headers.get(REQUEST_ID_HEADER);
  if (!isOrigin(last)) return null;
  values.pop();
  return last.passbook_request_id;
}

function isOrigin(value: unknown): value is CallOrigin {
  return typeof value === "object" && value !== null && "passbook_request_id" in value;
}
