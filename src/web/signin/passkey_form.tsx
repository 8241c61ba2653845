/** A form that needs a passkey. The script `passkey.js` fills it in and sends it. */
import type { PropsWithChildren } from "hono/jsx";
import { t } from "../language/text.tsx";
import { ProviderIcon } from "./provider_icon.tsx";

export function PasskeyForm(
  props: PropsWithChildren<{
    /** The address that starts the ceremony. */
    readonly start: string;
    readonly button: string;
    /** A button that is not the main one of its page. `small`: one of a list. */
    readonly is_quiet?: boolean;
    readonly small?: boolean;
  }>,
) {
  const { start, button, is_quiet = false, small = false, children } = props;
  return (
    <form
      method="post"
      action="/signin/passkey"
      class="passkey"
      data-passkey={start}
      {...problemTexts()}
    >
      {children}
      <input type="hidden" name="response" />
      <button type="submit" class={small ? "quiet small" : is_quiet ? "quiet" : undefined}>
        {small ? null : <ProviderIcon id="passkey" />}
        {button}
      </button>
      <p class="field-problem" role="alert" data-passkey-status></p>
      <noscript>
        <p class="hint">{t("Passkeys need JavaScript. Allow it for this page to use them.")}</p>
      </noscript>
    </form>
  );
}

/** What `passkey.js` says when the browser refuses. */
function problemTexts() {
  return {
    "data-no-passkeys": t("This browser has no passkeys. Use a newer browser, over https."),
    "data-exists": t("This device already has a passkey for your account."),
    "data-unused": t("No passkey was used. Try again, or choose another way."),
    "data-unsupported": t("This device cannot create a passkey. Try another device."),
    "data-wrong-address": t(
      "Passkeys do not work at this address. Use the usual address of this service.",
    ),
    "data-failed": t("That did not work. Try again in a minute."),
  };
}
