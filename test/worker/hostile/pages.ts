/** What the service declares by itself: the forms and links of its pages, and the names that its code reads. */
import { vi } from "vitest";
import { BASE_URL, type Answer } from "../support/passbook.ts";

/** A form with the values that a browser would send. */
export interface Form {
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
}

const TEXT_OF_ENTITY: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
};

function unescape(text: string): string {
  return text.replaceAll(/&(amp|lt|gt|quot|#39);/g, (entity) => TEXT_OF_ENTITY[entity] ?? entity);
}

function attribute(tag: string, name: string): string | null {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1];
  return value === undefined ? null : unescape(value);
}

/** The forms of a page that write. */
export function formsOf(path: string, { text }: Answer): readonly Form[] {
  return [...text.matchAll(/<form[^>]*method="post"[\s\S]*?<\/form>/g)].map(([form]) => {
    const fields: Record<string, string> = {};
    const tags = form.matchAll(/<(?:input|select|textarea|button)[^>]*>/g);
    for (const [tag] of tags) {
      const name = attribute(tag, "name");
      if (name !== null) fields[name] ??= attribute(tag, "value") ?? "";
    }
    const [start = ""] = /^<form[^>]*>/.exec(form) ?? [];
    const action = new URL(attribute(start, "action") ?? path, `${BASE_URL}${path}`);
    return { action: action.pathname + action.search, fields };
  });
}

/** The pages of the service that a page links to. */
export function linksOf(path: string, { text }: Answer): readonly string[] {
  return [...text.matchAll(/<a[^>]*\shref="([^"]+)"/g)].flatMap(([, href = ""]) => {
    const url = URL.parse(unescape(href), `${BASE_URL}${path}`);
    return url?.origin === BASE_URL ? [url.pathname + url.search] : [];
  });
}

/** The names of headers and parameters that the code has read so far. The set grows until the test ends. */
export interface ReadNames {
  readonly headers: ReadonlySet<string>;
  readonly parameters: ReadonlySet<string>;
}

/** Notes the names that the Worker's code asks for. */
export function noteReadNames(): ReadNames {
  const names = { headers: new Set<string>(), parameters: new Set<string>() };
  const note = (target: object, method: string, into: Set<string>): void => {
    const prototype = Object.getPrototypeOf(target) as Record<string, (name: string) => unknown>;
    const original = prototype[method];
    if (original === undefined) throw new Error(`there is no method ${method}`);
    vi.spyOn(prototype, method).mockImplementation(function (this: unknown, name: string) {
      into.add(name);
      return Reflect.apply(original, this, [name]);
    });
  };
  note(new Headers(), "get", names.headers);
  for (const target of [new URLSearchParams(), new FormData()]) {
    for (const method of ["get", "getAll", "has"]) note(target, method, names.parameters);
  }
  return names;
}
