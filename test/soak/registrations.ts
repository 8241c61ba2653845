/** What an operator registers for a run: the apps, their clients, the resource that charges, the webhook and the plans. */
import type { PlanRule, PlanRules } from "../../src/domain/plans.ts";
import { signIn } from "../bench/people.ts";
import { expectRule, type Caller } from "./caller.ts";
import { CONNECTION_CAP_CREDITS, type Client } from "./connection.ts";
import type { Receiver } from "./receiver.ts";

export const APP = "soak";
/** Some credits are for this app only. */
export const OTHER_APP = "soak-other";
/** The clients that people connect: to our API, and to the resource. */
export const AGENT: Client = {
  id: "agent",
  name: "An agent",
  public: true,
  redirect_uris: ["https://soak.example/callback"],
};
export const TOOL_USER: Client = { ...AGENT, id: "tool-user", name: "A user of tools" };
/** The client of the app's server, which charges for its tools. */
const SERVER: Client = { ...AGENT, id: "server", name: "A server of tools", public: false };
export const SERVER_CLIENT_ID = `${APP}~${SERVER.id}`;
export const RESOURCE = "https://tools.soak.example/mcp";

const EVENTS = [
  "job.created",
  "job.completed",
  "job.failed",
  "credits.granted",
  "purchase.completed",
  "purchase.refunded",
  "topup.failed",
  "topup.disabled",
  "account.deleted",
];

/** An account gets the credits of a plan once in a period, and the longest run has many periods. */
const PLANS = 40;
const RULES: readonly PlanRule[] = [
  { credits: 40, every: "day", rollover_max: 10, app_slugs: null },
  { credits: 20, every: "week", rollover_max: 0, app_slugs: [OTHER_APP] },
];
export const PLAN_RULES: PlanRules = { version: 1, name: "Soak", recurring: RULES };
export const PLAN_IDS = Array.from({ length: PLANS }, (_, at) => `plan-${at}`);

export interface Operator {
  /** Header lines. */
  readonly proof: readonly string[];
  /** The secret of the server's client. */
  readonly client_secret: string;
}

export async function register(
  caller: Caller,
  receiver: Receiver,
  email: string,
): Promise<Operator> {
  const { cookie: proof } = await signIn(caller.service.url, email);
  const put = async (path: string, body: object) => {
    const answer = await caller.ask({ method: "PUT", path: `/api/admin/${path}`, proof, body });
    expectRule(answer.status === 200, `${path} is saved: ${answer.status} ${answer.text}`);
    return answer.json as { readonly secret: string; readonly client_secret: string };
  };
  const app = { name: "Soak", starter_credits: 1_000_000, origins: [], daily_starter_budget: null };
  const suggested_cap = { credits: CONNECTION_CAP_CREDITS, period: "total" };
  await put(`apps/${APP}`, { ...app, suggested_cap });
  await put(`apps/${OTHER_APP}`, { ...app, name: "Another app", starter_credits: 0 });
  for (const { id, ...client } of [AGENT, TOOL_USER])
    await put(`apps/${APP}/clients/${id}`, client);
  const { id, ...server } = SERVER;
  const { client_secret } = await put(`apps/${APP}/clients/${id}`, server);
  await put(`apps/${APP}/resources/tools`, { uri: RESOURCE, scopes: ["tools"], charges: true });
  const webhook = { url: receiver.url, events: EVENTS };
  receiver.secret = (await put(`apps/${APP}/webhooks/main`, webhook)).secret;
  for (const plan of PLAN_IDS) {
    await put(`plans/${plan}`, { name: PLAN_RULES.name, recurring: RULES });
  }
  return { proof, client_secret };
}
