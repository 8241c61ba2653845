/** How a person reaches the people who run the service. */
import { currentShell } from "./shell.ts";

/** A line with the contact of the settings; nothing without one. */
export function Support() {
  const { support_url } = currentShell();
  if (support_url === null) return null;
  const [, mail_address] = /^mailto:([^?]+)/.exec(support_url) ?? [];
  return (
    <p class="support">
      Need help?{" "}
      <a href={support_url}>
        {mail_address === undefined ? "Contact support" : `Write to ${mail_address}`}
      </a>
    </p>
  );
}
