/**
 * Responses of other servers that an attacker changed: documents and keys of OAuth clients, keys of issuers, sign-in
 * providers, the social network, Stripe, icons. Each is a valid response with any of its parts replaced.
 */
import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { expect, it, vi } from "vitest";
import { CLIENT_DOCUMENT_MAX_BYTES } from "../../../src/domain/client_document.ts";
import { UPSTREAM_BODY_MAX_BYTES } from "../../../src/domain/limits.ts";
import { RATE_LIMIT_RULES } from "../../../src/domain/rate_limits.ts";
import { expectInvariants } from "../account/invariants.ts";
import { StripeDouble } from "../payments/stripe_double.ts";
import { checkout, creditsOf, deliver, SELLING } from "../payments/till.ts";
import { authorize, signedInBrowser } from "../support/authorizations.ts";
import { openBrowser } from "../support/browser.ts";
import { CHATGPT, CLAUDE } from "../support/client_documents.ts";
import { histories } from "../support/histories.ts";
import { openIssuer } from "../support/issuer_double.ts";
import { authorize as connectClient, codeForm, post } from "../support/oauth_clients.ts";
import { openProviderDouble } from "../support/provider_double.ts";
import {
  BASE_URL,
  send,
  signInWithCredits,
  type Answer,
  type SignedIn,
} from "../support/passbook.ts";
import { fromOwnPage } from "../support/device_logins.ts";
import { hostileResponses, Network, type HostileResponse } from "./network.ts";
import { noteReadNames } from "./pages.ts";
import { isInLog, MARK, SCRIPT } from "./values.ts";

const REQUESTS = Number(env.TEST_GENERATED_REQUESTS);
/** More than a body's limit is read only to the end of the chunk, and one more chunk may be on its way. */
const CHUNKS_BYTES = 2 * 16 * 1024;
/** A page of Stripe's list may have so much: see `stripe_api.ts`. */
const STRIPE_MAX_BYTES = 8 * 1024 * 1024;
const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);
const OPERATOR = "olga@example.com";

/** Something that makes the Worker call another server. */
interface Door {
  readonly max_bytes: number;
  readonly ask: () => Promise<Answer>;
  /** Stripe sends an event again if the response is a 5xx, which must be so if its object cannot be read. */
  readonly may_fail?: boolean;
}

const UNLIMITED = Object.fromEntries(
  RATE_LIMIT_RULES.map(({ binding }) => [binding, { limit: async () => ({ success: true }) }]),
);

type Open = (network: Network, ada: SignedIn) => Promise<Door>;

/** New services, as in an isolate that knows no keys yet. */
const fresh = (settings: object): object => ({ ...UNLIMITED, ...settings });

const openClient: Open = async (network) => {
  network.serve = () => Response.json(CLAUDE);
  const browser = await signedInBrowser("ada@example.com", UNLIMITED);
  const changes = { client_id: CLAUDE.client_id, redirect_uri: CLAUDE.redirect_uris[0] };
  return { max_bytes: CLIENT_DOCUMENT_MAX_BYTES, ask: () => authorize(browser, changes) };
};

const openClientKeys: Open = async (network, ada) => {
  const { publicKey, privateKey } = await generateKeyPair("RS256");
  const keys = [{ ...(await exportJWK(publicKey)), kid: "one", alg: "RS256", use: "sig" }];
  const { client_id, redirect_uris, jwks_uri } = CHATGPT;
  network.serve = ({ url }) => Response.json(url === jwks_uri ? { keys } : CHATGPT);
  const ask = async (): Promise<Answer> => {
    const redirect_uri = redirect_uris[0] ?? "";
    const code = await connectClient(ada, { client_id, redirect_uri, needs_assertion: true });
    const client_assertion = await new SignJWT({ jti: crypto.randomUUID() })
      .setProtectedHeader({ alg: "RS256", kid: "one" })
      .setIssuer(client_id)
      .setSubject(client_id)
      .setAudience(BASE_URL)
      .setIssuedAt()
      .setExpirationTime("1m")
      .sign(privateKey);
    const client_assertion_type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
    const authentication = { client_id, client_assertion, client_assertion_type };
    const form = codeForm(code, { ...authentication, redirect_uri });
    return post("/oauth/token", form, {}, fresh({}));
  };
  return { max_bytes: UPSTREAM_BODY_MAX_BYTES, ask };
};

const openIssuerKeys: Open = async (network) => {
  const issuer = await openIssuer("https://issuer.test");
  network.serve = () => issuer.handle();
  const token = await issuer.token();
  const entry = { issuer: issuer.issuer, any_audience: true, starter_credits: true };
  const TRUSTED_ISSUERS = JSON.stringify([entry]);
  const headers = { Authorization: `Bearer ${token}` };
  return {
    max_bytes: UPSTREAM_BODY_MAX_BYTES,
    ask: () => send("GET", "/api/wallet", { headers }, fresh({ TRUSTED_ISSUERS })),
  };
};

const openProvider: Open = async (network) => {
  const acme = openProviderDouble("acme");
  network.serve = (request) => acme.handle(request);
  const settings = { ...UNLIMITED, SIGNIN_PROVIDERS: JSON.stringify([acme.settings]) };
  const person = { sub: "ada", name: "Ada", email: "ada@acme.test", email_verified: true };
  return {
    max_bytes: UPSTREAM_BODY_MAX_BYTES,
    ask: () => openBrowser({ ...settings }).signIn(acme, person),
  };
};

const openSocialNetwork: Open = async (network) => {
  network.serve = () => Response.json({ data: { id: "1", name: "Ada" } });
  const settings = fresh({ SOCIAL_API_URL: "https://social.test/me" });
  const headers = { Authorization: "Bearer token-of-the-network" };
  return {
    max_bytes: UPSTREAM_BODY_MAX_BYTES,
    ask: () => send("GET", "/api/socialMe", { headers }, settings),
  };
};

const openCheckouts: Open = async (network, ada) => {
  const stripe = new StripeDouble();
  network.serve = (request) => stripe.answer(request);
  const settings = { ...UNLIMITED, ...SELLING };
  return { max_bytes: STRIPE_MAX_BYTES, ask: () => checkout(ada, {}, { settings }) };
};

const openPayments: Open = async (network, ada) => {
  const stripe = new StripeDouble();
  network.serve = (request) => stripe.answer(request);
  const settings = { ...UNLIMITED, ...SELLING };
  const { body } = await checkout(ada, {}, { settings });
  const id = new URL(String(body.url)).pathname.split("/").at(-1) ?? "";
  const event = stripe.completes(id);
  await deliver(event, settings);
  return { max_bytes: STRIPE_MAX_BYTES, ask: () => deliver(event, settings), may_fail: true };
};

const openIcon: Open = async (network) => {
  network.serve = () => new Response(PNG, { headers: { "Content-Type": "image/png" } });
  const settings = { ...UNLIMITED, OPERATORS: OPERATOR };
  const olga = await signInWithCredits("demo", OPERATOR);
  const headers = { ...fromOwnPage(olga), "Content-Type": "application/json" };
  const app = { name: "Demo", starter_credits: 100, origins: [], daily_starter_budget: null };
  let number = 0;
  return {
    max_bytes: UPSTREAM_BODY_MAX_BYTES,
    ask: () => {
      number += 1;
      const body = JSON.stringify({
        ...app,
        icon: `https://sketch.example.com/icon-${number}.png`,
      });
      return send("PUT", `/api/admin/apps/demo-${number}`, { headers, body }, settings);
    },
  };
};

const DOORS: Readonly<Record<string, Open>> = {
  "the document of an OAuth client": openClient,
  "the keys of an OAuth client": openClientKeys,
  "the keys of a trusted issuer": openIssuerKeys,
  "a sign-in provider": openProvider,
  "the social network": openSocialNetwork,
  "Stripe, for a checkout": openCheckouts,
  "Stripe, about a payment that was booked": openPayments,
  "the server of an icon": openIcon,
};

/** The service may say that another server does not work. */
const UPSTREAM_STATUSES = [502, 503];

it.each(Object.entries(DOORS))(
  "no response of %s makes the service fail, change credits, log or show it, or read without a limit",
  { tags: ["history"], timeout: 1_200_000 },
  async (_, open) => {
    const log: string[] = [];
    for (const level of ["log", "warn", "error"] as const) {
      vi.spyOn(console, level).mockImplementation((line) => void log.push(JSON.stringify(line)));
    }
    const ada = await signInWithCredits();
    const network = new Network();
    const { ask, max_bytes, may_fail = false } = await open(network, ada);
    const names = noteReadNames();
    network.begin(null);
    const ordinary = await ask();
    expect(network.calls, ordinary.text).toBeGreaterThan(0);
    const calls = network.calls;
    const credits = await creditsOf(ada);
    const read = [...names.headers].filter((name) => !/^(cookie|cf-)/i.test(name));
    const rule = async (hostile: HostileResponse): Promise<void> => {
      log.length = 0;
      network.begin(hostile);
      const { status, text, headers } = await ask();
      const is_page = (headers.get("Content-Type") ?? "").startsWith("text/html");
      const faults = {
        "a failure": status >= 500 && !may_fail && !UPSTREAM_STATUSES.includes(status),
        "runs in a page": is_page && text.includes(SCRIPT),
        "is in the log": isInLog(log),
        "leads away": new RegExp(`^[^?#]*${MARK}`).test(headers.get("Location") ?? ""),
        "sets a cookie": headers.getSetCookie().some((cookie) => cookie.includes(MARK)),
        "more calls": network.calls > calls,
        "too many bytes": network.bytes > max_bytes + CHUNKS_BYTES,
        "a long response": text.length > ordinary.text.length + max_bytes + CHUNKS_BYTES,
        "other credits": (await creditsOf(ada)) !== credits,
      };
      const broken = Object.entries(faults).flatMap(([fault, is_so]) => (is_so ? [fault] : []));
      if (broken.length > 0) {
        const said = `${status} ${text.slice(0, 300)}\n${log.join("\n").slice(0, 2_000)}`;
        throw new Error(`${broken.join(", ")}: ${said}`);
      }
    };
    await fc.assert(fc.asyncProperty(hostileResponses(read), rule), {
      numRuns: histories(REQUESTS / 4),
      endOnFailure: true,
    });
    network.begin(null);
    expect((await ask()).status).toBe(ordinary.status);
    await expectInvariants(ada.identity_id);
  },
);
