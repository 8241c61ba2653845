/** `POST /api/device/start`: begins a device login (RFC 8628, sections 3.1 and 3.2). */
import { startLogin } from "../../allowances/start_login.ts";
import { endpoint } from "../endpoint.ts";
import { clientDetailsBody, clientDetailsOf } from "./client_details.ts";

export const startDeviceLogin = endpoint(
  {
    at: "POST /api/device/start",
    caller: "anyone",
    rate: "device_start",
    body: clientDetailsBody,
    body_is_optional: true,
  },
  async (context, { body }) =>
    context.json(await startLogin(context, clientDetailsOf(context, body), null)),
);
