/** The commands for personal access tokens. */
import { InvalidArgumentError, type Command } from "commander";
import {
  CAP_PERIODS,
  isPassbookError,
  PassbookError,
  type PersonalToken,
  type TokenChanges,
} from "../client/index.ts";
import { print, table } from "./output.ts";
import { serviceUrl, signedIn, type GlobalOptions } from "./session.ts";

type Cap = NonNullable<TokenChanges["caps"]>[number];

interface ChangeOptions extends GlobalOptions {
  readonly label?: string;
  /** False: `--no-caps`. */
  readonly caps?: readonly Cap[] | false;
  readonly apps?: readonly string[] | null;
}

export function addTokens(program: Command): void {
  const tokens = program
    .command("tokens")
    .description("list personal access tokens")
    .action((_, command: Command) => showTokens(command.optsWithGlobals<GlobalOptions>()));
  tokens
    .command("change <id>")
    .description(
      "change what a token may do; needs your own session token, not a personal access token",
    )
    .option("--label <name>", "its name")
    .option(
      "--caps <credits/period>",
      `its caps, with commas between them, such as 50/month,10/day (${CAP_PERIODS.join(", ")})`,
      (text: string): readonly Cap[] => text.split(",").map((cap) => readCap(cap.trim())),
    )
    .option("--no-caps", "remove all caps")
    .option("--apps <slugs>", "the only apps, with commas between them, or: all", readApps)
    .action((id: string, _, command: Command) =>
      changeToken(id, command.optsWithGlobals<ChangeOptions>()),
    );
  tokens
    .command("revoke <id>")
    .description("revoke a token with immediate effect")
    .action((id: string, _, command: Command) =>
      revokePersonalToken(id, command.optsWithGlobals<GlobalOptions>()),
    );
}

/** A cap such as `500/month`. */
export function readCap(text: string): Cap {
  const [credits = "", name] = text.split("/");
  const period = CAP_PERIODS.find((known) => known === name);
  if (!/^\d+$/.test(credits) || period === undefined) {
    const periods = CAP_PERIODS.join(", ");
    throw new InvalidArgumentError(`It must be such as 500/month. The periods are ${periods}.`);
  }
  return { credits: Number(credits), period };
}

function readApps(text: string): readonly string[] | null {
  return text === "all" ? null : text.split(",").map((slug) => slug.trim());
}

async function showTokens(options: GlobalOptions): Promise<void> {
  const tokens = await (await signedIn(options)).tokens.list();
  print(options, { tokens }, () => (tokens.length === 0 ? "No tokens." : tableOf(tokens)));
}

function tableOf(tokens: readonly PersonalToken[]): string {
  const rows = tokens.map((token) => [
    token.label + (token.current ? " (this one)" : ""),
    token.scopes.join(","),
    token.apps?.join(",") ?? "all",
    token.caps
      .map(({ room, credits, period }) => `${room} of ${credits}/${period} left`)
      .join(", "),
    token.last_used_at ?? "never",
    token.expires_at,
    token.id,
  ]);
  return table(["LABEL", "SCOPES", "APPS", "CAPS", "LAST USED", "EXPIRES", "ID"], rows);
}

async function changeToken(id: string, options: ChangeOptions): Promise<void> {
  const { label, apps, caps } = options;
  const token = await (
    await signedIn(options)
  ).tokens.change(id, {
    ...(label === undefined ? {} : { label }),
    ...(caps === undefined ? {} : { caps: caps === false ? [] : caps }),
    ...(apps === undefined ? {} : { apps }),
  });
  print(options, token, () => tableOf([token]));
}

async function revokePersonalToken(id: string, options: GlobalOptions): Promise<void> {
  if (id.startsWith("pb_pat_")) {
    const message =
      'This is a token, not the id of a token. The last column of "passbook tokens" has its id. ' +
      "Revoke this token, since the shell's history has it now.";
    throw new PassbookError("invalid_argument", message);
  }
  const client = await signedIn(options);
  try {
    await client.tokens.revoke(id);
  } catch (error) {
    if (!isPassbookError(error, "scope")) throw error;
    const page = `${await serviceUrl(options)}/account/access`;
    const message = `This token may revoke only itself (passbook logout). Revoke others on ${page}`;
    throw new PassbookError(error.code, message, { status: error.status ?? undefined });
  }
  print(options, { ok: true }, () => "Revoked.");
}
