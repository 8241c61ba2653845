/**
 * Requests of an attacker to every route: headers, cookies, queries and forms. The routes are the app's, the forms and their
 * fields are those of its pages, and the names of headers and parameters are those that its code reads, so a new one is
 * tried without a change of this file. `test/worker/openapi` does so with the bodies of the API.
 */
import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { expect, it, vi } from "vitest";
import { RATE_LIMIT_RULES } from "../../../src/domain/rate_limits.ts";
import { expectInvariants } from "../account/invariants.ts";
import { StripeDouble } from "../payments/stripe_double.ts";
import { SELLING } from "../payments/till.ts";
import { countedEnvironment } from "../support/bindings.ts";
import { paths } from "../support/conformance.ts";
import { histories } from "../support/histories.ts";
import { fromOwnPage, getToken, startLogin } from "../support/device_logins.ts";
import { queryOf } from "../support/authorizations.ts";
import { registerClient } from "../support/registrations.ts";
import {
  BASE_URL,
  forgetEnvironments,
  send,
  signIn,
  type Answer,
  type SignedIn,
} from "../support/passbook.ts";
import { ROUTES, type Route } from "../support/routes.ts";
import { formsOf, linksOf, noteReadNames, type Form, type ReadNames } from "./pages.ts";
import { readState, type State } from "./state.ts";
import { hostileHeader, hostileText, isInLog, MARK, SCRIPT } from "./values.ts";

const REQUESTS = Number(env.TEST_GENERATED_REQUESTS);
const OPERATOR = "olga@example.com";
/** Pages of one route that are read for their forms. */
const PAGES_OF_ROUTE = 2;
/** Addresses of one route whose work is measured. */
const ADDRESSES_OF_ROUTE = 2;
/** A page that shows a form again has what was sent, with up to six characters for one. */
const CHARACTERS_FOR_ONE = 6;
const CHARACTERS_MORE = 20_000;
/** Calls to stores more than those of the most expensive ordinary request to the same route. */
const HOPS_MORE = 4;

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);

type Fields = Readonly<Record<string, string>>;

/** A route with the forms that pages send to it. */
interface Door {
  readonly route: Route;
  readonly forms: readonly Form[];
  readonly addresses: readonly string[];
}

/** The most that an ordinary request to a route does. */
interface Work {
  hops: number;
  characters: number;
}

interface Target {
  readonly olga: SignedIn;
  readonly names: ReadNames;
  readonly cookie_names: ReadonlySet<string>;
  readonly doors: readonly Door[];
  readonly known: ReadonlyMap<string, string>;
  /** Sends a request. `hops`: the calls of stores and objects that it made. */
  readonly ask: (hostile: Hostile) => Promise<Answer & { readonly hops: number }>;
  readonly work: ReadonlyMap<Route, Work>;
}

/** A request. `values` replace parameters of its form and query, `cookies` some of the browser's. */
interface Hostile {
  readonly door: Door;
  readonly which: number;
  readonly values: Fields;
  readonly headers: Fields;
  readonly cookies: Fields;
  readonly is_signed_in: boolean;
}

const ORDINARY = { which: 0, values: {}, headers: {}, cookies: {}, is_signed_in: true };

/** A stream does not end. Its test is `stream.test.ts`. */
const doorRoutes = ROUTES.filter(
  ({ path, method }) => path !== "/api/events" && method !== "OPTIONS",
);

/** The names of the API's query parameters, which its code reads by its schemas. */
const QUERY_NAMES = Object.values(paths)
  .flatMap((item) => Object.values(item).flatMap(({ parameters = [] }) => parameters))
  .flatMap((parameter) => (parameter.in === "query" ? [parameter.name] : []));

/** The route of an address. A fixed part has priority over a parameter. */
function routeOf(method: string, address: string): Route | undefined {
  const [pathname = ""] = address.split("?");
  const fits = doorRoutes.filter(
    (route) =>
      route.method === method &&
      new RegExp(`^${route.path.replaceAll(/:\w+/g, "[^/]+")}$`).test(pathname),
  );
  return fits.toSorted(
    (one, other) => one.path.split(":").length - other.path.split(":").length,
  )[0];
}

/** Whatever operators can register, with the examples of the API's document. */
async function registerExamples(olga: SignedIn, settings: object): Promise<void> {
  const headers = { ...fromOwnPage(olga), "Content-Type": "application/json" };
  const registered = Object.entries(paths).filter(([path]) => path.startsWith("/api/admin/"));
  for (const [path, { put }] of registered.toSorted(([one], [two]) => one.length - two.length)) {
    const example = put?.requestBody?.content["application/json"]?.example;
    if (example === undefined) continue;
    const { version: _, ...body } = example as { version?: number };
    const address = path.replace("{slug}", "demo").replace("{id}", "studio");
    const answer = await send("PUT", address, { headers, body: JSON.stringify(body) }, settings);
    expect(answer, `${address} ${answer.text}`).toMatchObject({ status: 200 });
  }
}

/** Reads pages from link to link, and returns their forms. */
async function crawl(
  first: readonly string[],
  open: (address: string) => ReturnType<typeof send>,
): Promise<{ readonly forms: readonly Form[]; readonly addresses: readonly string[] }> {
  const addresses = [...first];
  const seen = new Map<Route, number>();
  const forms: Form[] = [];
  for (const address of addresses) {
    const route = routeOf("GET", address);
    const times = route === undefined ? PAGES_OF_ROUTE : (seen.get(route) ?? 0);
    if (route === undefined || times >= PAGES_OF_ROUTE) continue;
    seen.set(route, times + 1);
    const page = await open(address);
    if (!(page.headers.get("Content-Type") ?? "").startsWith("text/html")) continue;
    forms.push(...formsOf(address, page));
    addresses.push(...linksOf(address, page).filter((link) => !addresses.includes(link)));
  }
  return { forms, addresses };
}

async function openTarget(): Promise<Target> {
  const { environment, hops } = countedEnvironment();
  const unlimited = { limit: async () => ({ success: true }) };
  const settings = {
    ...environment,
    ...SELLING,
    OPERATORS: OPERATOR,
    SIGNIN_METHODS: "passkey, providers",
    ...Object.fromEntries(RATE_LIMIT_RULES.map(({ binding }) => [binding, unlimited])),
  };
  let olga = await signIn(OPERATOR, settings);
  await registerExamples(olga, settings);
  await registerClient("demo", "web", { name: "Demo web", public: 1 });
  forgetEnvironments();
  const ask = (path: string, headers: Fields = {}) =>
    send(
      "GET",
      path,
      { headers: { ...fromOwnPage(olga), Accept: "text/html", ...headers } },
      settings,
    );
  await ask("/api/wallet?app=demo");
  const job = { app: "demo", action: "draw", cost_estimate: 1 };
  const { job_id } = (await olga.post("/api/jobs", job)).body;
  const token = await getToken(olga);
  const { user_code, device_code } = await startLogin();

  const names = noteReadNames();
  const cookie_names = new Set(
    olga.cookies.split("; ").map((cookie) => cookie.split("=", 1)[0] ?? ""),
  );
  const { forms, addresses } = await crawl(
    [
      ...doorRoutes.filter(({ method }) => method === "GET").map(({ address }) => address),
      `/oauth/authorize?${queryOf()}`,
      `/device?user_code=${user_code}`,
      `/console/accounts/${olga.identity_id}`,
      `/account/jobs/${job_id}`,
      "/console/apps/demo",
    ],
    async (address) => {
      const page = await ask(address);
      for (const cookie of page.headers.getSetCookie())
        cookie_names.add(cookie.split("=", 1)[0] ?? "");
      return page;
    },
  );
  const metadata = (await send("GET", "/.well-known/oauth-authorization-server")).body;
  const known = new Map<string, string>([
    ["client_id", "demo~web"],
    ["token", token.token],
    ["subject_token", token.token],
    ["subject_token_type", "urn:ietf:params:oauth:token-type:access_token"],
    ["device_code", device_code],
    ["user_code", user_code],
    ["redirect_uri", "https://demo.example/callback"],
    ...metadata.grant_types_supported.map((type: string) => ["grant_type", type]),
  ]);
  const doors = doorRoutes.map((route) => ({
    route,
    forms: forms.filter(
      ({ action }) => route.method !== "GET" && routeOf(route.method, action) === route,
    ),
    addresses: [
      ...new Set([
        route.address,
        ...addresses.filter((it) => route.method === "GET" && routeOf("GET", it) === route),
      ]),
    ],
  }));
  for (const { route, forms: declared } of doors) {
    if (route.method !== "POST" || declared.length > 0) continue;
    for (const grant_type of metadata.grant_types_supported) {
      const body = new URLSearchParams({ ...Object.fromEntries(known), grant_type });
      await send("POST", route.address, { headers: { Origin: BASE_URL }, body }, settings);
    }
  }
  const hops_now = () => hops.account + hops.d1 + hops.kv;
  const work = new Map<Route, Work>();
  const target: Target = {
    olga,
    names,
    cookie_names,
    doors,
    known,
    work,
    async ask({ door, which, values, headers, cookies, is_signed_in }) {
      const { route, forms: declared, addresses: known_addresses } = door;
      const form = declared[which % Math.max(1, declared.length)];
      const address = form?.action ?? known_addresses[which % known_addresses.length] ?? "";
      const sent = new URL(address, BASE_URL);
      const is_read = route.method === "GET";
      const body = new URLSearchParams({ ...form?.fields, ...(is_read ? {} : values) });
      // A form is sent once with its key; with other values it is another form.
      if (body.has("key") && values["key"] === undefined) body.set("key", crypto.randomUUID());
      for (const [name, value] of Object.entries(is_read ? values : {}))
        sent.searchParams.set(name, value);
      const jar = new Map(
        is_signed_in
          ? olga.cookies.split("; ").map((it) => it.split(/=(.*)/s, 2) as [string, string])
          : [],
      );
      for (const [name, value] of Object.entries(cookies)) jar.set(name, value);
      const Cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
      const all = {
        Origin: BASE_URL,
        Accept: "text/html",
        ...(jar.size > 0 && { Cookie }),
        ...headers,
      };
      const hops_before = hops_now();
      const answer = await send(
        route.method,
        sent.href,
        { headers: all, ...(!is_read && { body }) },
        settings,
      );
      const made = hops_now() - hops_before;
      const is_out = is_signed_in && (answer.status === 401 || answer.headers.has("Set-Cookie"));
      // A form may have signed the person out.
      if (is_out && (await olga.getOwn("/api/me")).status === 401) {
        olga = await signIn(OPERATOR, settings);
      }
      return { ...answer, hops: made };
    },
  };
  for (const door of doors) {
    const most = { hops: 0, characters: 0 };
    // Its result is kept for seconds: the pages above have asked for it, and the most expensive request is the first.
    if (door.route.path === "/readyz") forgetEnvironments();
    for (
      let which = 0;
      which < Math.max(door.forms.length, Math.min(door.addresses.length, ADDRESSES_OF_ROUTE));
      which += 1
    ) {
      const { text, hops: made } = await target.ask({ ...ORDINARY, door, which });
      most.hops = Math.max(most.hops, made);
      most.characters = Math.max(most.characters, text.length);
    }
    work.set(door.route, most);
  }
  return target;
}

function hostileRequests({ doors, names, cookie_names, known }: Target): fc.Arbitrary<Hostile> {
  const parameters = [...names.parameters, ...QUERY_NAMES];
  const form_names = doors.flatMap(({ forms }) =>
    forms.flatMap(({ fields }) => Object.keys(fields)),
  );
  // The platform sets its own headers and removes those of a client.
  const header_names = [...names.headers].filter((name) => !/^(cookie$|cf-)/i.test(name));
  const value = (name: string) =>
    fc.oneof({ weight: 3, arbitrary: hostileText() }, fc.constant(known.get(name) ?? MARK));
  const of = (
    all: readonly string[],
    text: (name: string) => fc.Arbitrary<string>,
    maxLength: number,
  ) =>
    fc
      .array(
        fc.constantFrom(...all).chain((name) => fc.tuple(fc.constant(name), text(name))),
        { maxLength },
      )
      .map((pairs) => Object.fromEntries(pairs) as Fields);
  const cookie = hostileHeader.map((text) => text.replaceAll(";", ""));
  return fc.constantFrom(...doors).chain((door) => {
    const own = door.forms.flatMap(({ fields }) => Object.keys(fields));
    const usual = own.length > 0 ? own : [...parameters, ...form_names];
    return fc.record({
      door: fc.constant(door),
      which: fc.nat(),
      values: fc
        .tuple(of(usual, value, 3), of([...parameters, ...form_names], value, 2))
        .map(([one, two]) => ({ ...two, ...one })),
      headers: fc.oneof(
        fc.constant({}),
        of(header_names, () => hostileHeader, 3),
      ),
      cookies: fc.oneof(
        fc.constant({}),
        of([...cookie_names], () => cookie, 2),
      ),
      is_signed_in: fc.integer({ min: 0, max: 3 }).map((it) => it > 0),
    });
  });
}

interface Seen {
  readonly before: State;
  readonly after: State;
  readonly log: readonly string[];
  readonly ordinary: Work;
}

/** The rules that a response breaks. */
function faultsOf(
  { door, ...sent }: Hostile,
  { status, headers, text, hops }: Answer & { readonly hops: number },
  { before, after, log, ordinary }: Seen,
): readonly string[] {
  const { path } = door.route;
  const longest = ordinary.characters + JSON.stringify(sent).length * CHARACTERS_FOR_ONE;
  const by_operator = /^\/(console|api\/admin)(\/|$)/.test(path);
  const is_page = (headers.get("Content-Type") ?? "").startsWith("text/html");
  const rules = {
    // The check of a store has a time limit, which a busy machine exceeds.
    "a failure": status >= 500 && path !== "/readyz",
    "runs in a page": is_page && text.includes(SCRIPT),
    "a refused request changed something": status >= 400 && after.rows !== before.rows,
    "a refused request is in the audit log":
      status >= 400 && !by_operator && after.audit !== before.audit,
    "is in the log": isInLog(log),
    "leads away": new RegExp(`^[^?#]*${MARK}`).test(headers.get("Location") ?? ""),
    "calls more stores": hops > ordinary.hops + HOPS_MORE,
    "a long response": text.length > longest + CHARACTERS_MORE,
    "sets a cookie": headers.getSetCookie().some((cookie) => cookie.includes(MARK)),
  };
  return Object.entries(rules).flatMap(([fault, is_broken]) => (is_broken ? [fault] : []));
}

it(
  "no hostile header, cookie, query or form gets a 5xx, changes anything when it is refused, or runs in a page",
  { tags: ["history"], timeout: 1_200_000 },
  async () => {
    const log: string[] = [];
    for (const level of ["log", "warn", "error"] as const) {
      vi.spyOn(console, level).mockImplementation((line) => void log.push(JSON.stringify(line)));
    }
    const stripe = new StripeDouble();
    // Everything else is the icon of an app.
    vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
      const request = new Request(input, init);
      const is_stripe = new URL(request.url).hostname === "api.stripe.com";
      return is_stripe ? stripe.answer(request) : new Response(PNG);
    });
    const target = await openTarget();
    const seen = new Set<Route>();
    let before = await readState(target.olga.identity_id);
    await fc.assert(
      fc.asyncProperty(hostileRequests(target), async (hostile) => {
        const { route } = hostile.door;
        const answer = await target.ask(hostile);
        const after = await readState(target.olga.identity_id);
        const ordinary = target.work.get(route) ?? { hops: 0, characters: 0 };
        const faults = faultsOf(hostile, answer, { before, after, log, ordinary });
        if (faults.length > 0) {
          const sent = JSON.stringify({ ...hostile, door: null }).slice(0, 1_500);
          throw new Error(
            `${route.method} ${route.path} → ${answer.status}: ${faults.join(", ")}\n${sent}\n${log.at(-1)}`,
          );
        }
        before = after;
        log.length = 0;
        seen.add(route);
      }),
      { numRuns: histories(REQUESTS), endOnFailure: true },
    );
    const tried = Math.min(histories(REQUESTS), target.doors.length);
    expect(seen.size).toBeGreaterThan(tried / 2);
    await expectInvariants(target.olga.identity_id);
  },
);
