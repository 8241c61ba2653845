/** Forms of `/account` for passkeys and the recovery code. */
import * as z from "zod/mini";
import { factory } from "../../http/context.ts";
import { validForm } from "../../http/validation.ts";
import { passkeyName, passkeysOf, startCeremony } from "../signin/passkey.tsx";
import { RecoveryCodePage } from "../signin/passkey_pages.tsx";

const form = z.object({ passkey_name: passkeyName });

/** `POST /account/passkey` (form: `passkey_name`): starts the adding of a passkey. */
export const addPasskey = factory.createHandlers(validForm(form), async (context) =>
  startCeremony(context, {
    kind: "link",
    base_url: context.get("base_url"),
    service_name: context.get("services").config.service_name,
    session: context.get("session"),
    passkey_name: context.req.valid("form").passkey_name,
  }),
);

/** `POST /account/recovery-code`: makes a new recovery code, which replaces the former one, and shows it. */
export const makeRecoveryCode = factory.createHandlers(async (context) => {
  const replaced = await passkeysOf(context).replaceRecoveryCode(context.get("session"));
  const { recovery_code } = replaced;
  return context.html(
    <RecoveryCodePage {...{ recovery_code }} redirect_to={null} after="replacement" />,
  );
});
