/** `passbook admin apps clients`, `… resources` and their changes: who may ask people for connections, and for what. */
import type { Command } from "commander";
import { table } from "./output.ts";
import { signedIn, type GlobalOptions } from "./session.ts";

interface ClientOptions extends GlobalOptions {
  readonly name: string;
  readonly redirect: readonly string[];
  readonly public?: boolean;
  readonly pkceOptional?: boolean;
  readonly refresh?: boolean;
  readonly reason?: string;
}

interface ResourceOptions extends GlobalOptions {
  readonly uri: string;
  readonly scope?: readonly string[];
  readonly reason?: string;
}

type ReplaceOptions = GlobalOptions & { readonly now?: boolean; readonly reason?: string };
type RemoveOptions = GlobalOptions & { readonly reason?: string };

const REASON = ["--reason <text>", "why; the audit log keeps it"] as const;

/** Adds the commands below `passbook admin apps`. */
export function addAdminClients(apps: Command): void {
  apps
    .command("clients <slug>")
    .description("list the app's OAuth clients")
    .action((slug: string, _, command: Command) =>
      listClients(slug, command.optsWithGlobals<GlobalOptions>()),
    );
  apps
    .command("set-client <slug> <id>")
    .description(
      "register an OAuth client, or replace all its settings; a secret is shown only once",
    )
    .requiredOption("--name <name>", "the name that people see on the consent page")
    .requiredOption(
      "--redirect <addresses...>",
      "https, http on 127.0.0.1 with any port, or such as com.example.app:/callback",
    )
    .option("--public", "without a secret, such as an app on a phone or a page without a server")
    .option("--pkce-optional", "for a confidential client that cannot use PKCE")
    .option("--refresh", "its tokens outlive the browser session")
    .option(...REASON)
    .action((slug: string, id: string, _, command: Command) =>
      setClient(slug, id, command.optsWithGlobals<ClientOptions>()),
    );
  apps
    .command("replace-client-secret <slug> <id>")
    .description("replace the secret of an OAuth client; the old one works for 24 hours too")
    .option("--now", "the old secret stops working at once")
    .option(...REASON)
    .action((slug: string, id: string, _, command: Command) =>
      replaceSecret(slug, id, command.optsWithGlobals<ReplaceOptions>()),
    );
  apps
    .command("delete-client <slug> <id>")
    .description("delete an OAuth client for good; within a minute it gets no tokens anywhere")
    .option(...REASON)
    .action((slug: string, id: string, _, command: Command) =>
      deleteClient(slug, id, command.optsWithGlobals<RemoveOptions>()),
    );
  apps
    .command("resources <slug>")
    .description("list the app's protected resources")
    .action((slug: string, _, command: Command) =>
      listResources(slug, command.optsWithGlobals<GlobalOptions>()),
    );
  apps
    .command("set-resource <slug> <id>")
    .description("register a protected resource, such as an MCP server, or replace its settings")
    .requiredOption("--uri <address>", "its address, such as https://mcp.example.com/mcp")
    .option("--scope <scopes...>", "the scopes that clients may request for it")
    .option(...REASON)
    .action((slug: string, id: string, _, command: Command) =>
      setResource(slug, id, command.optsWithGlobals<ResourceOptions>()),
    );
  apps
    .command("delete-resource <slug> <id>")
    .description("delete a protected resource; within a minute it gets no tokens anywhere")
    .option(...REASON)
    .action((slug: string, id: string, _, command: Command) =>
      deleteResource(slug, id, command.optsWithGlobals<RemoveOptions>()),
    );
}

function print(options: GlobalOptions, value: unknown, text: string): void {
  process.stdout.write(`${options.json ? JSON.stringify(value, null, 2) : text}\n`);
}

const given = ({ reason }: { readonly reason?: string }) =>
  reason === undefined ? {} : { reason };

/** The version that a change is based on. None for a new record. */
const versionOf = (known: { readonly version: number } | undefined) =>
  known === undefined ? {} : { version: known.version };

async function listClients(slug: string, options: GlobalOptions): Promise<void> {
  const clients = await (await signedIn(options)).adminApps.listClients(slug);
  const rows = clients.map((client) => [
    client.client_id,
    client.name,
    client.public ? "public" : "confidential",
    client.pkce_optional ? "optional" : "required",
    client.last_used_at?.slice(0, "2026-01-01".length) ?? "never",
    client.redirect_uris.join(" "),
  ]);
  const names = ["CLIENT ID", "NAME", "KIND", "PKCE", "LAST USED", "REDIRECT ADDRESSES"];
  print(options, { clients }, rows.length === 0 ? "No OAuth clients." : table(names, rows));
}

async function setClient(slug: string, id: string, options: ClientOptions): Promise<void> {
  const { adminApps } = await signedIn(options);
  const known = (await adminApps.listClients(slug)).find((client) => client.id === id);
  const saved = await adminApps.saveClient(slug, id, {
    ...versionOf(known),
    name: options.name,
    redirectUris: options.redirect,
    public: options.public ?? false,
    pkceOptional: options.pkceOptional ?? false,
    refresh: options.refresh ?? false,
    ...given(options),
  });
  const { client_id, client_secret } = saved;
  const secret =
    client_secret === undefined
      ? ""
      : `\nclient_secret ${client_secret}\n\nStore it now: it is shown only once.`;
  const text = `client_id     ${client_id}${secret}\nThe change takes effect everywhere within a minute.`;
  print(options, saved, text);
}

async function replaceSecret(slug: string, id: string, options: ReplaceOptions): Promise<void> {
  const { now = false } = options;
  const replaced = await (
    await signedIn(options)
  ).adminApps.replaceClientSecret(slug, id, { now, ...given(options) });
  const old = now ? "The old one stops within a minute." : "The old one works for 24 hours too.";
  const text = `client_secret ${replaced.client_secret}\n\nStore it now: it is shown only once. It works within a minute. ${old}`;
  print(options, replaced, text);
}

async function deleteClient(slug: string, id: string, options: RemoveOptions): Promise<void> {
  await (await signedIn(options)).adminApps.deleteClient(slug, id, given(options));
  print(options, { ok: true }, "Deleted. Within a minute it gets no tokens anywhere.");
}

async function listResources(slug: string, options: GlobalOptions): Promise<void> {
  const resources = await (await signedIn(options)).adminApps.listResources(slug);
  const rows = resources.map(({ id, uri, scopes }) => [id, uri, scopes.join(" ")]);
  const text = rows.length === 0 ? "No resources." : table(["ID", "ADDRESS", "SCOPES"], rows);
  print(options, { resources }, text);
}

async function setResource(slug: string, id: string, options: ResourceOptions): Promise<void> {
  const { uri, scope: scopes = [] } = options;
  const { adminApps } = await signedIn(options);
  const known = (await adminApps.listResources(slug)).find((resource) => resource.id === id);
  const settings = { ...versionOf(known), uri, scopes, ...given(options) };
  const resource = await adminApps.saveResource(slug, id, settings);
  const text = `${resource.uri} is saved. The change takes effect everywhere within a minute.`;
  print(options, { resource }, text);
}

async function deleteResource(slug: string, id: string, options: RemoveOptions): Promise<void> {
  await (await signedIn(options)).adminApps.deleteResource(slug, id, given(options));
  print(options, { ok: true }, "Deleted. Within a minute no tokens are issued for it anywhere.");
}
