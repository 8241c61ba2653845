/** `passbook token` and `passbook exchange`: a token for another program. */
import { InvalidArgumentError, type Command } from "commander";
import { isPassbookError, PassbookError } from "../client/index.ts";
import {
  issuePersonalToken,
  type IssuedPersonalToken,
  type SpendingCap,
} from "../client/oauth/index.ts";
import { CLIENT_PATH, withSavedTokens } from "./connection.ts";
import { credentialsUrl, currentToken, environmentToken, type GlobalOptions } from "./session.ts";
import { readCap } from "./tokens.ts";

export interface ExchangeOptions extends GlobalOptions {
  readonly budget?: readonly SpendingCap[];
  readonly app?: readonly string[];
  readonly readOnly?: boolean;
  /** Seconds; an hour if omitted, or what is left of the caller's own token. */
  readonly expires?: number;
}

const HOUR_SECONDS = 60 * 60;
const DAY_SECONDS = 24 * HOUR_SECONDS;

/** Adds the limits of a narrower token. */
export function withLimits(command: Command): Command {
  return command
    .option(
      "--budget <cap>",
      "the most it may spend: 5 credits in total, or such as 5/day; repeatable",
      readTotalBudget,
    )
    .option("--app <slug...>", "only these apps")
    .option("--read-only", "only reading")
    .option("--expires <time>", "how long it is valid: 1h if omitted, a day at most", readTime);
}

/** Prints a valid token of the caller. A connection's is renewed if necessary. */
export async function printToken(options: GlobalOptions): Promise<void> {
  const { token } = await currentToken(options);
  printSecret(options, token, { token });
}

/** Prints a narrower token. */
export async function exchange(options: ExchangeOptions): Promise<void> {
  const { issued } = await issueNarrower(options);
  printSecret(options, issued.token, issued);
}

function printSecret({ json = false }: GlobalOptions, token: string, value: object): void {
  process.stdout.write(`${json ? JSON.stringify(value) : token}\n`);
}

/** A narrower token, and the service that accepts it. @throws PassbookError */
export async function issueNarrower(
  options: ExchangeOptions,
): Promise<{ readonly url: string; readonly issued: IssuedPersonalToken }> {
  if (options.budget === undefined && options.readOnly !== true) {
    const message = "Say how much it may spend: --budget 5, or --read-only for nothing.";
    throw new PassbookError("invalid_argument", message);
  }
  const url = await credentialsUrl(options);
  const own = environmentToken();
  if (own !== null) return { url, issued: await issueFrom(url, own, undefined, options) };
  const issued = await withSavedTokens(url, async ({ token, connection }) => {
    if (connection === null) return issueFrom(url, token, undefined, options);
    const { refresh_token } = connection;
    if (refresh_token !== null) {
      return issueFrom(url, refresh_token, `${url}${CLIENT_PATH}`, options);
    }
    const message = `This machine's connection ends within minutes. Run: passbook connect --url ${url}`;
    throw new PassbookError("no_credentials", message);
  });
  return { url, issued };
}

async function issueFrom(
  baseUrl: string,
  token: string,
  clientId: string | undefined,
  { budget: caps, app: apps, readOnly, expires }: ExchangeOptions,
): Promise<IssuedPersonalToken> {
  if (clientId === undefined && !token.startsWith("pb_pat_")) {
    const message =
      "Only a personal access token (pb_pat_…) can be exchanged. Set PASSBOOK_TOKEN to one, or unset it and run: passbook connect";
    throw new PassbookError("invalid_argument", message);
  }
  const expiresIn = expires ?? Math.min(HOUR_SECONDS, secondsLeft(token));
  const issue = (scopes: readonly string[]): Promise<IssuedPersonalToken> =>
    issuePersonalToken({ baseUrl, token, clientId, scopes, caps, apps, expiresIn });
  if (readOnly === true) return issue(["read"]);
  // Never the scopes for third-party tokens, or for the person's name and address.
  try {
    return await issue(["read", "write"]);
  } catch (error) {
    if (!isPassbookError(error, "invalid_scope")) throw error;
    const message = "Your own token may only read. Use --read-only.";
    throw new PassbookError(error.code, message, { cause: error });
  }
}

/** For how long a personal access token, which is a JWT, is still valid. Other tokens do not say. */
function secondsLeft(token: string): number {
  try {
    const payload = Buffer.from(token.split(".")[1] ?? "", "base64url").toString();
    const { exp } = JSON.parse(payload) as { readonly exp: number };
    return Math.max(1, exp - Math.ceil(Date.now() / 1000) - 1);
  } catch {
    return Infinity;
  }
}

/** One of the caps of `--budget`: `5` is in total. It is added to those before it. */
function readTotalBudget(
  text: string,
  before: readonly SpendingCap[] = [],
): readonly SpendingCap[] {
  return [...before, readCap(/^\d+$/.test(text) ? `${text}/total` : text)];
}

const UNIT_SECONDS: Readonly<Record<string, number>> = {
  s: 1,
  m: 60,
  h: HOUR_SECONDS,
  d: DAY_SECONDS,
};

/** A time such as `90s`, `30m`, `1h` or `1d`, in seconds. */
function readTime(text: string): number {
  const [, number = "", unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const seconds = Number(number) * (UNIT_SECONDS[unit] ?? 0);
  if (seconds >= 1 && seconds <= DAY_SECONDS) return seconds;
  throw new InvalidArgumentError("It must be such as 90s, 30m or 1h, and at most 1d.");
}
