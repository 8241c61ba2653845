/** `GET /oauth/authorize/icon?client_id=`: the copy of the icon that a client's document names, for the consent page. */
import { factory } from "../../http/context.ts";
import { readClientIcon } from "../../http/oauth/clients.ts";
import { refuse } from "../../http/refusals.ts";

export const CLIENT_ICON_PATH = "/oauth/authorize/icon";

/** Nothing is fetched for a person who is not signed in. */
export const showClientIcon = factory.createHandlers(async (context) => {
  const session = context.get("session") ?? null;
  const client_id = context.req.query("client_id") ?? "";
  const icon =
    session === null ? null : await readClientIcon(context, client_id, session.identity_id);
  if (icon === null) return refuse(context, { code: "not_found" });
  // The type was decided when the copy was made, and `nosniff` makes browsers keep to it.
  context.header("Content-Type", icon.media_type);
  return context.body(new Uint8Array(icon.bytes));
});
