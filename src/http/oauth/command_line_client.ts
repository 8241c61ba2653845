/**
 * `GET /oauth/clients/command-line`: the document of the command `passbook connect` as an OAuth client. Its address is the
 * client's id, and this service fetches it like the document of every other client.
 */
import { factory } from "../context.ts";

export const COMMAND_LINE_CLIENT_PATH = "/oauth/clients/command-line";

const CACHED = "public, max-age=300";

export const readCommandLineClient = factory.createHandlers((context) => {
  context.header("Cache-Control", CACHED);
  return context.json({
    client_id: `${context.get("base_url")}${COMMAND_LINE_CLIENT_PATH}`,
    client_name: "Passbook command line",
    // The command gets a free port.
    redirect_uris: ["http://127.0.0.1/callback"],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  });
});
