/** A browser without scripts: it keeps cookies, follows redirects and submits forms. It runs in Node and in workerd. */

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface Field {
  readonly name: string;
  readonly value: string;
  readonly type: string;
}

export interface Form {
  readonly action: URL;
  readonly method: "GET" | "POST";
  /** The fields that a browser would send, without the buttons. */
  readonly fields: readonly Field[];
  readonly buttons: readonly (Field & { readonly text: string })[];
}

export interface Page {
  readonly url: URL;
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
  readonly forms: readonly Form[];
}

/** Where a navigation ends: on a page of the server, or with a redirect to another origin, which is not followed. */
export type Landing =
  | { readonly kind: "page"; readonly page: Page }
  | { readonly kind: "left"; readonly url: URL; readonly status: number };

export interface Visitor {
  open(url: URL): Promise<Landing>;
  /** Posts a form that no page of the server has. */
  post(url: URL, body: URLSearchParams): Promise<Landing>;
  /** Submits a form with these values in place of its own, by the button whose text or value this is. */
  submit(form: Form, values?: Readonly<Record<string, string>>, button?: RegExp): Promise<Landing>;
}

/** Longer chains of redirects are loops. */
const REDIRECTS_MAX = 12;

/** Opens a browser without cookies. `headers` are sent with each request. */
export function openVisitor(
  origin: string,
  fetch: Fetch,
  headers: Readonly<Record<string, string>> = {},
): Visitor {
  const cookies = new Map<string, string>();

  const go = async (first: URL, form: URLSearchParams | null, from: string): Promise<Landing> => {
    let [url, body] = [first, form];
    for (let step = 0; step < REDIRECTS_MAX; step += 1) {
      const response = await fetch(url.href, {
        method: body === null ? "GET" : "POST",
        headers: {
          ...headers,
          Accept: "text/html",
          "Sec-Fetch-Mode": "navigate",
          "Sec-Fetch-Site": from === origin ? "same-origin" : "cross-site",
          ...(body === null ? {} : { Origin: from }),
          ...(cookies.size === 0 ? {} : { Cookie: cookieHeader(cookies) }),
        },
        body,
        redirect: "manual",
      });
      keepCookies(cookies, response.headers.getSetCookie());
      const html = await response.text();
      const location = response.headers.get("Location");
      if (location === null) {
        const { status } = response;
        const page = { url, status, headers: response.headers, html, forms: readForms(html, url) };
        return { kind: "page", page };
      }
      url = new URL(location, url);
      if (url.origin !== origin) return { kind: "left", url, status: response.status };
      if (response.status !== 307 && response.status !== 308) body = null;
    }
    throw new Error(`The server redirects again and again, last to ${url.href}.`);
  };

  return {
    open: (url) => go(url, null, "https://elsewhere.test"),
    post: (url, body) => go(url, body, "https://elsewhere.test"),
    submit(form, values = {}, button) {
      const pressed = form.buttons.find(
        ({ text, value }) => button === undefined || button.test(text) || button.test(value),
      );
      if (button !== undefined && pressed === undefined) {
        throw new Error(`The form ${form.action.pathname} has no button ${String(button)}.`);
      }
      const sent = new URLSearchParams();
      for (const { name, value } of form.fields) {
        if (!Object.hasOwn(values, name)) sent.append(name, value);
      }
      for (const [name, value] of Object.entries(values)) sent.append(name, value);
      if (pressed !== undefined && pressed.name !== "") sent.append(pressed.name, pressed.value);
      if (form.method === "POST") return go(form.action, sent, origin);
      const url = new URL(form.action);
      url.search = sent.toString();
      return go(url, null, origin);
    },
  };
}

function cookieHeader(cookies: ReadonlyMap<string, string>): string {
  return [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
}

function keepCookies(cookies: Map<string, string>, set_cookies: readonly string[]): void {
  for (const set_cookie of set_cookies) {
    const [pair = "", ...attributes] = set_cookie.split(/;\s*/);
    const [name = "", ...value] = pair.split("=");
    const expired = attributes.some(
      (attribute) => /^max-age=0$/i.test(attribute) || /^expires=.*\b1970\b/i.test(attribute),
    );
    if (expired) cookies.delete(name);
    else cookies.set(name, value.join("="));
  }
}

function readForms(html: string, base: URL): Form[] {
  return [...html.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/g)].map(
    ([, head = "", inside = ""]) => {
      const { action = "", method = "get" } = attributesOf(head);
      const inputs = [...inside.matchAll(/<input\b([^>]*)>/g)].map(([, text = ""]) =>
        attributesOf(text),
      );
      const buttons = [...inside.matchAll(/<button\b([^>]*)>([\s\S]*?)<\/button>/g)]
        .map(([, text = "", label = ""]) => ({
          attributes: attributesOf(text),
          text: label.replaceAll(/<[^>]*>/g, "").trim(),
        }))
        .filter(({ attributes }) => (attributes["type"] ?? "submit") === "submit");
      return {
        action: new URL(action === "" ? base : action, base),
        method: method.toUpperCase() === "POST" ? "POST" : "GET",
        fields: [
          ...inputs
            .filter(({ name, type }) => name !== undefined && type !== "submit")
            .filter(
              ({ type, checked }) =>
                (type !== "checkbox" && type !== "radio") || checked !== undefined,
            )
            .map(({ name = "", value = "", type = "text" }) => ({
              name,
              value: value === "" && (type === "checkbox" || type === "radio") ? "on" : value,
              type,
            })),
          ...readSelects(inside),
        ],
        buttons: buttons.map(({ attributes: { name = "", value = "" }, text }) => ({
          name,
          value,
          type: "submit",
          text,
        })),
      };
    },
  );
}

/** The chosen option of each select: the first one if none is marked. */
function readSelects(html: string): Field[] {
  return [...html.matchAll(/<select\b([^>]*)>([\s\S]*?)<\/select>/g)].flatMap(
    ([, head = "", inside = ""]) => {
      const { name } = attributesOf(head);
      const options = [...inside.matchAll(/<option\b([^>]*)>/g)].map(([, text = ""]) =>
        attributesOf(text),
      );
      const chosen = options.find(({ selected }) => selected !== undefined) ?? options[0];
      if (name === undefined || chosen === undefined) return [];
      return [{ name, value: chosen["value"] ?? "", type: "select" }];
    },
  );
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
};

function attributesOf(text: string): Readonly<Record<string, string | undefined>> {
  const found = [...text.matchAll(/([\w-]+)(?:="([^"]*)")?/g)];
  return Object.fromEntries(
    found.map(([, name = "", value = ""]) => [
      name,
      value.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity),
    ]),
  );
}
