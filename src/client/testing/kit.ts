/** The whole service for the tests of an app. */
import { createAppServer } from "../app_server.ts";
import { startReceiver, type WebhookEvents, type WebhookReceiver } from "./webhook_events.ts";
import { startService, type RunningService, type ServiceLog } from "./service.ts";
import type { Webhook } from "../responses.ts";

/** An app to register. */
export interface TestApp {
  readonly slug: string;
  /** Its name on pages; the slug if left out. */
  readonly name?: string;
  /** Who ends its jobs: the person's own programs (`holder`, the default), or only the app's key (`app`). */
  readonly settle?: "holder" | "app";
  /** Credits that a person gets when the app first opens their account; 0 if left out, so that balances are as you say. */
  readonly starter_credits?: number;
}

/** A person to create. */
export interface TestPerson {
  readonly email: string;
  /** The credits that they have at least. */
  readonly credits?: number;
}

/** The apps and people of the service, and its settings. All is optional. */
export interface StartPassbook {
  /** Slugs, or apps with their settings. */
  readonly apps?: readonly (string | TestApp)[];
  /** E-mail addresses, or people with their credits. Their accounts are open for all apps. */
  readonly people?: readonly (string | TestPerson)[];
  /** The credits of people without their own number; 0 if left out. */
  readonly credits?: number;
  /** Settings of the service, such as `{ STRICT_APPS: "true" }` (docs/settings.md). */
  readonly settings?: Readonly<Record<string, string>>;
  /** Receives what the service logs. Nothing is printed without it. */
  readonly onLog?: (line: ServiceLog) => void;
}

/** A running service. */
export interface Passbook {
  /** The service's address: the `baseUrl` of your clients. */
  readonly url: string;
  /**
   * A new session token of a person, as a page gets it when they sign in. It lasts 15 minutes of the kit's clock. `origin`:
   * the origin of the page, which is the claim `azp`; the service's own if left out.
   */
  tokenOf(email: string, options?: { readonly origin?: string }): Promise<string>;
  /** The key of an app's server. It begins with `pb_app_test_`, and is the same in every run. */
  keyOf(slug: string): string;
  /** The identity of a person, by which an app's server names the account. */
  identityOf(email: string): string;
  /** Gives credits to a person. @returns their balance. */
  give(email: string, credits: number): Promise<number>;
  /** Moves the service's clock. What is due on the way happens at its time: jobs expire, tokens end. @returns the time. */
  advance(seconds: number): Promise<Date>;
  /** As after the start: no jobs, the same apps and people, the real time, no events. Tokens from before are not valid. */
  reset(): Promise<void>;
  readonly events: WebhookEvents;
  /** Ends the service and its process. */
  stop(): Promise<void>;
}

interface Seeded {
  readonly apps: readonly { readonly slug: string; readonly key: string }[];
  readonly people: readonly SeededPerson[];
}

interface SeededPerson {
  readonly email: string;
  readonly identity_id: string;
  readonly token: string;
}

/** Balances at which the kit receives `credits.low`. */
const THRESHOLDS = [100, 10];

/** The id of the webhook by which the kit receives events. */
const WEBHOOK = "passbook-testing";

/**
 * Starts the service with apps and people. Two may run at once. Call `stop` at the end.
 * @throws Error if Node is older than 22, miniflare is not installed, or an app or a person is not valid
 */
export async function startPassbook({
  apps = [],
  people = [],
  credits = 0,
  settings = {},
  onLog = () => {},
}: StartPassbook = {}): Promise<Passbook> {
  const receiver = await startReceiver();
  const service = await startService({ port: 0, settings, rateLimits: false, onLog }).catch(
    async (error: unknown) => {
      await receiver.stop();
      throw error;
    },
  );
  const kit = createKit(service, receiver, { apps, people, credits });
  try {
    await kit.prepare();
  } catch (error) {
    await kit.passbook.stop();
    throw error;
  }
  return kit.passbook;
}

function createKit(service: RunningService, receiver: WebhookReceiver, seed: object) {
  const { url } = service;
  let known: Seeded = { apps: [], people: [] };
  const post = <Body>(path: string, body: object): Promise<Body> => postJson(url + path, body);
  const prepare = async (): Promise<void> => {
    known = await post<Seeded>("/dev/seed", seed);
    for (const { key } of known.apps) {
      const server = createAppServer({ baseUrl: url, key });
      const events = service.events as Webhook["events"];
      await server.webhooks.save(WEBHOOK, { url: receiver.url, events, thresholds: THRESHOLDS });
    }
  };
  const person = (email: string): SeededPerson =>
    found(known.people, (it) => it.email === email, `people has no ${email}`);
  const passbook: Passbook = {
    url,
    async tokenOf(email, { origin } = {}) {
      const people = [{ email: person(email).email, ...(origin === undefined ? {} : { origin }) }];
      const seeded = await post<Seeded>("/dev/seed", { people });
      return found(seeded.people, () => true, "the service seeded nobody").token;
    },
    keyOf: (slug) => found(known.apps, (it) => it.slug === slug, `apps has no ${slug}`).key,
    identityOf: (email) => person(email).identity_id,
    async give(email, amount) {
      const given = { email: person(email).email, credits: amount };
      return (await post<{ credits: number }>("/dev/give", given)).credits;
    },
    async advance(advance_seconds) {
      return new Date((await post<{ now: string }>("/dev/clock", { advance_seconds })).now);
    },
    async reset() {
      await post("/dev/reset", {});
      receiver.clear();
      await prepare();
    },
    events: receiver.events,
    async stop() {
      await service.stop();
      await receiver.stop();
    },
  };
  return { passbook, prepare };
}

function found<Item>(list: readonly Item[], is: (item: Item) => boolean, otherwise: string): Item {
  const item = list.find(is);
  if (item === undefined) throw new Error(`${otherwise}. Name it in startPassbook.`);
  return item;
}

/** @throws Error with the service's own message */
async function postJson<Body>(url: string, body: object): Promise<Body> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (response.ok) return JSON.parse(text) as Body;
  throw new Error(`POST ${new URL(url).pathname} gave ${response.status}: ${text}`);
}
