/** The stand-in for Stripe as a server on loopback, with the settings of a Worker that sells credits through it. */
import { createServer, type IncomingMessage } from "node:http";
import { freePort } from "../../../src/commands/local_worker.ts";
import { SECRET_KEY, StripeDouble, WEBHOOK_SECRET } from "../../worker/payments/stripe_double.ts";

const PACKAGES = [
  { id: "small", name: "A little something", credits: 100, price: "price_small" },
  { id: "large", name: "For a whole project", credits: 1_000, price: "price_large" },
];

export interface StripeServer {
  readonly stripe: StripeDouble;
  readonly settings: Readonly<Record<string, string>>;
  readonly close: () => void;
}

/** `page`: the response to requests of browsers; null: the request is for the API. */
export async function startStripe(
  page: (url: URL, stripe: StripeDouble) => Response | null = () => null,
): Promise<StripeServer> {
  const origin = `http://localhost:${await freePort()}`;
  const stripe = new StripeDouble();
  stripe.checkout_origin = origin;
  const server = createServer((incoming, response) => {
    const serve = async (): Promise<void> => {
      const url = new URL(incoming.url ?? "/", origin);
      const answer = page(url, stripe) ?? (await stripe.answer(await readRequest(url, incoming)));
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      response.end(await answer.text());
    };
    void serve();
  });
  // Else it may close a connection while a request is on its way, which Stripe's servers avoid.
  server.keepAliveTimeout = 10 * 60_000;
  await new Promise<void>((resolve) => server.listen(Number(new URL(origin).port), resolve));
  const settings = {
    CREDIT_PACKAGES: JSON.stringify(PACKAGES),
    STRIPE_SECRET_KEY: SECRET_KEY,
    STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
    STRIPE_API_URL: origin,
  };
  return { stripe, settings, close: () => void server.close() };
}

async function readRequest(url: URL, incoming: IncomingMessage): Promise<Request> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const { method = "GET", headers } = incoming;
  const known = ["authorization", "content-type", "idempotency-key"].flatMap((name) => {
    const value = headers[name];
    return typeof value === "string" ? [[name, value]] : [];
  });
  const body = method === "POST" ? Buffer.concat(chunks) : null;
  return new Request(url, { method, headers: Object.fromEntries(known), body });
}
