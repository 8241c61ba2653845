/** `passbook access`: everything that may act on the account, and the stop of an app. */
import type { Command } from "commander";
import type { Access, AccessConnection, AccessToken } from "../client/index.ts";
import { plain, print, table } from "./output.ts";
import { serviceUrl, signedIn, type GlobalOptions } from "./session.ts";

interface StopOptions extends GlobalOptions {
  readonly expireJobs?: boolean;
}

export function addAccess(program: Command): void {
  const access = program
    .command("access")
    .description(
      "list everything that may use the account, and what it spent this month; needs a personal access token without limits",
    )
    .action((_, command: Command) => showAccess(command.optsWithGlobals<GlobalOptions>()));
  access
    .command("stop <slug>")
    .description(
      "stop an app: it can start no more jobs, and its connections end for good; needs a personal access token without limits",
    )
    .option("--expire-jobs", "its started jobs expire now; without this option they may go on")
    .action((slug: string, _, command: Command) =>
      stopApp(slug, command.optsWithGlobals<StopOptions>()),
    );
}

async function showAccess(options: GlobalOptions): Promise<void> {
  const access = await (await signedIn(options)).access();
  print(options, access, () => tableOf(access));
}

async function stopApp(slug: string, options: StopOptions): Promise<void> {
  const { expireJobs } = options;
  const client = await signedIn(options);
  const app = await client.stopApp(slug, { startedJobs: expireJobs ? "expire" : "keep" });
  const page = `${await serviceUrl(options)}/account/access`;
  print(options, { app }, () => {
    const { name, started_jobs } = app;
    const jobs = started_jobs === 0 ? "" : ` Started jobs that may still finish: ${started_jobs}.`;
    return `Stopped ${plain(name)}.${jobs} You can allow it again only in the browser: ${page}`;
  });
}

function tableOf({ apps, connections, tokens, browsers }: Access): string {
  const spent = (credits: number | null): string => String(credits ?? "not added up");
  const rowsOf = (
    kind: string,
    name: string,
    allowance: AccessConnection | AccessToken,
    children: readonly (readonly string[])[],
  ): readonly (readonly string[])[] => [
    [
      kind,
      name,
      allowance.caps
        .map(({ room, credits, period }) => `${room} of ${credits}/${period} left`)
        .join(", "),
      spent(allowance.spent_this_month),
      allowance.last_used_at ?? "never",
      allowance.id,
    ],
    ...children,
  ];
  const ofConnection = (it: AccessConnection): readonly (readonly string[])[] =>
    rowsOf("connection", it.name, it, it.children.flatMap(ofConnection));
  const ofToken = (it: AccessToken): readonly (readonly string[])[] =>
    rowsOf("token", it.label + (it.current ? " (this one)" : ""), it, it.children.flatMap(ofToken));
  const rows = [
    ...apps.map((app) => [
      app.state === "open" ? "app" : "app (stopped)",
      app.name,
      "",
      spent(app.spent_this_month),
      app.last_used_at ?? "never",
      app.slug,
    ]),
    ...connections.flatMap(ofConnection),
    ...tokens.flatMap(ofToken),
    ...browsers.map(({ browser, place, last_used_at, id }) => [
      "browser",
      [browser ?? "A browser", place].filter((it) => it !== null).join(", "),
      "",
      "",
      last_used_at ?? "never",
      id,
    ]),
  ];
  if (rows.length === 0) return "Nothing has access.";
  return table(["WHAT", "NAME", "CAPS", "SPENT THIS MONTH", "LAST USED", "ID"], rows);
}
