/** `passbook connect`: a connection with a budget for an agent or a script on this machine. */
import { createClient, type PersonalToken } from "../client/index.ts";
import type { Connection, SpendingCap } from "../client/oauth/index.ts";
import { openBrowser } from "./browser.ts";
import { CALLBACK_PATH, commandLineClient } from "./connection.ts";
import { openLoopback } from "./loopback.ts";
import { plain, spin } from "./output.ts";
import { replaceLogin } from "./revocation.ts";
import { serviceUrl, type GlobalOptions } from "./session.ts";
import { readCap } from "./tokens.ts";

export interface ConnectOptions extends GlobalOptions {
  readonly budget?: readonly SpendingCap[];
  readonly app?: readonly string[];
  readonly readOnly?: boolean;
  readonly browser: boolean;
}

/**
 * Connects this machine through the browser, and saves the tokens as a login does. The person sees the requested limits
 * and may change them. Text for people goes to stderr, JSON to stdout.
 */
export async function connect(options: ConnectOptions): Promise<void> {
  const url = await serviceUrl(options);
  const loopback = await openLoopback(CALLBACK_PATH);
  const say = (text: string): void => void process.stderr.write(text);
  let stop = (): void => {};
  let connection: Connection;
  try {
    const oauth = commandLineClient(url, loopback.port);
    const { url: address, pending } = await oauth.start({
      scopes: [...(options.readOnly === true ? ["read"] : ["read", "write"]), "offline_access"],
      limits: { caps: options.budget, apps: options.app },
    });
    say(`Open  ${address}\n`);
    if (options.browser && process.stdin.isTTY) openBrowser(address);
    stop = spin(process.stderr, "Waiting for you to approve it in the browser …");
    connection = await oauth.callback(await loopback.returned(), pending);
  } finally {
    stop();
    loopback.close();
  }
  const { tokens } = connection;
  const { access_token: token } = tokens;
  const current = await readCurrent(url, token);
  const label = current?.label ?? null;
  await replaceLogin({ url, token, label, connection: tokens });
  const { scopes } = tokens;
  const { caps = null, apps = null, expires_at = null } = current ?? {};
  if (options.json === true) {
    process.stdout.write(`${JSON.stringify({ url, scopes, caps, apps, expires_at })}\n`);
    return;
  }
  const limits = caps === null ? `Its limits are on ${url}/account/access.` : limitsText(caps);
  say(`Connected to ${url}. ${limits}\n`);
}

/** The connection as the service lists it; null if that list cannot be read. The connection is saved all the same. */
async function readCurrent(url: string, token: string): Promise<PersonalToken | null> {
  try {
    const tokens = await createClient({ baseUrl: url, token }).tokens.list();
    return tokens.find(({ current }) => current) ?? null;
  } catch {
    return null;
  }
}

const PERIODS = {
  day: "a day",
  week: "a week",
  month: "a month",
  total: "in total",
} as const satisfies Record<SpendingCap["period"], string>;

/** The limits of the connection. The holder may have chosen other limits than the requested ones. */
function limitsText(caps: readonly SpendingCap[]): string {
  if (caps.length === 0) return "It may spend the whole balance.";
  const texts = caps.map(({ credits, period }) => `${credits} credits ${plain(PERIODS[period])}`);
  return `It may spend ${texts.join(", and ")}.`;
}

/** One of the caps of `--budget`, such as `50/month`. It is added to those before it. */
export function readBudget(
  text: string,
  before: readonly SpendingCap[] = [],
): readonly SpendingCap[] {
  return [...before, readCap(text)];
}
