/** The types of settings. Each setting is a text. */
import * as z from "zod/mini";
import { isLoopbackHost } from "../domain/origins.ts";
import { addProblem } from "./problems.ts";

export const some_text = z.string().check(z.minLength(1));

/** `true` or `false`; `false` if not set. */
export const flag = z.pipe(
  z._default(z.enum(["true", "false"]), "false"),
  z.transform((text) => text === "true"),
);

/** A whole number from `minimum` to `maximum`. */
export const wholeNumberBetween = (minimum: number, maximum: number) =>
  z.pipe(
    z.pipe(z.string().check(z.regex(/^\d+$/, "is not a whole number")), z.transform(Number)),
    z.number().check(z.gte(minimum), z.lte(maximum)),
  );

/** The same, with a default. */
export const wholeNumber = (minimum: number, maximum: number, fallback: number) =>
  z._default(wholeNumberBetween(minimum, maximum), fallback);

/** Any JSON value. */
export const json = z.pipe(
  z.string(),
  z.transform((text, payload): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      addProblem(payload, "is not JSON");
      return z.NEVER;
    }
  }),
);

/** An https origin, or an http origin of this machine. */
export const origin = z.pipe(
  z.string(),
  z.transform((text, payload) => {
    const url = URL.parse(text);
    const local = url?.protocol === "http:" && isLoopbackHost(url.hostname);
    const secure = url?.protocol === "https:" || local;
    if (url !== null && secure && url.origin === text.replace(/\/$/, "")) return url.origin;
    addProblem(payload, "is not an origin such as https://passbook.example.com");
    return z.NEVER;
  }),
);

/** A comma-separated list without empty entries. */
export const list = z.pipe(
  z._default(z.string(), ""),
  z.transform((text) =>
    text
      .split(",")
      .map((entry) => entry.trim())
      .filter((entry) => entry !== ""),
  ),
);
