/** Writes OAuth clients and resources as operators would with SQL. */
import { env } from "cloudflare:workers";
import { hashAppKey } from "../../../src/directory/app_records.ts";
import { registerApp } from "./directory_outage.ts";
import { forgetEnvironments } from "./passbook.ts";

/** The secret of each confidential client that these tests register. */
export const CLIENT_SECRET = `pb_cs_${"s".repeat(43)}`;

export async function registerClient(
  app_slug: string,
  id: string,
  row: Readonly<Record<string, string | number>> = {},
): Promise<void> {
  const secret_hash = row["public"] === 1 ? {} : { secret_hash: await hashAppKey(CLIENT_SECRET) };
  const values: Readonly<Record<string, string | number>> = {
    ...secret_hash,
    app_slug,
    id,
    name: "A client",
    redirect_uris_json: '["https://demo.example/callback"]',
    post_logout_redirect_uris_json: "[]",
    public: 0,
    pkce_optional: 0,
    created_at_ms: 0,
    last_audit_id: "",
    ...row,
  };
  await insert("oauth_clients", values);
}

export async function registerResource(
  app_slug: string,
  id: string,
  uri: string,
  charges = false,
): Promise<void> {
  const scopes_json = '["tools"]';
  await insert("resources", {
    app_slug,
    id,
    uri,
    scopes_json,
    charges: Number(charges),
    created_at_ms: 0,
    last_audit_id: "",
  });
}

/** An app with a resource. */
export async function openResource(uri: string, app_slug = "demo"): Promise<void> {
  await registerApp(app_slug, {});
  await registerResource(app_slug, "mcp", uri);
  forgetEnvironments();
}

async function insert(
  table: string,
  values: Readonly<Record<string, string | number>>,
): Promise<void> {
  const names = Object.keys(values);
  const marks = names.map(() => "?").join(", ");
  await env.DIRECTORY.prepare(`insert into ${table} (${names.join(", ")}) values (${marks})`)
    .bind(...Object.values(values))
    .run();
}
