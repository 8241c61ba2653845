/**
 * Logs errors that leave a Durable Object. The Worker that called the object receives such an error without the places
 * in the object's code, so only the object can log them.
 */
import { DurableObject } from "cloudflare:workers";
import { reportError } from "../domain/error_report.ts";
import { duringRequest, requestFields, takeOrigin } from "../domain/request_origin.ts";

/** The class of an object, as the platform constructs it. */
interface ObjectClass {
  readonly prototype: object;
}

type Method = (this: unknown, ...values: unknown[]) => unknown;

/**
 * Makes every method of these classes, and of those that they extend, log what it throws, and throw it. What the method
 * logs has the id of the request that called it.
 */
export function logFailuresOf(objects: Readonly<Record<string, ObjectClass>>): void {
  for (const [object, { prototype }] of Object.entries(objects)) {
    for (const part of prototypesOf(prototype)) {
      for (const [method, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(part))) {
        if (method === "constructor" || typeof descriptor.value !== "function") continue;
        const value = logging({ object, method }, descriptor.value as Method);
        Object.defineProperty(part, method, { ...descriptor, value });
      }
    }
  }
}

/** The prototypes of an object's class, without the platform's own. */
function prototypesOf(prototype: object): readonly object[] {
  const next = Object.getPrototypeOf(prototype) as object | null;
  if (prototype === DurableObject.prototype || next === null) return [];
  return [prototype, ...prototypesOf(next)];
}

function logging(place: { readonly object: string; readonly method: string }, run: Method): Method {
  return function (...values) {
    return duringRequest(takeOrigin(values), () => {
      const request = requestFields();
      const fail = (error: unknown): never => {
        console.error({ event: "object_failed", ...request, ...place, ...reportError(error) });
        throw error;
      };
      try {
        const result = run.apply(this, values);
        return result instanceof Promise ? result.catch(fail) : result;
      } catch (error) {
        return fail(error);
      }
    });
  };
}
