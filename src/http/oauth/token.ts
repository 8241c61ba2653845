/** `POST /oauth/token`: each grant type has its file in `grants/`. */
import { refused } from "../../domain/result.ts";
import { factory } from "../context.ts";
import { invalidRequest, refuseOAuth } from "./errors.ts";
import { readForm } from "./form.ts";
import { exchangeToken, TOKEN_EXCHANGE } from "./grants/exchange.ts";
import { collectDeviceToken, DEVICE_CODE_GRANT } from "./grants/device_code.ts";
import { redeemCode } from "./grants/authorization_code.ts";
import { refreshTokens } from "./grants/refresh_token.ts";
import type { GrantHandler } from "./tokens.ts";

const GRANTS: Readonly<Record<string, GrantHandler>> = {
  authorization_code: redeemCode,
  refresh_token: refreshTokens,
  [TOKEN_EXCHANGE]: exchangeToken,
  [DEVICE_CODE_GRANT]: collectDeviceToken,
};

export const GRANT_TYPES = Object.keys(GRANTS);

const UNSUPPORTED = {
  error: "unsupported_grant_type",
  error_description: `grant_type must be one of ${GRANT_TYPES.join(", ")}.`,
} as const;

export const issueTokens = factory.createHandlers(async (context) => {
  const form = await readForm(context);
  if (!form.ok) return refuseOAuth(context, form.refusal);
  const grant_type = form.value.get("grant_type");
  if (grant_type === null) {
    return refuseOAuth(context, invalidRequest("grant_type is missing in the body."));
  }
  const handle = Object.hasOwn(GRANTS, grant_type) ? GRANTS[grant_type] : undefined;
  const issued = handle === undefined ? refused(UNSUPPORTED) : await handle(context, form.value);
  return issued.ok ? context.json(issued.value) : refuseOAuth(context, issued.refusal);
});
