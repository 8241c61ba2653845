/** How a person reaches the people who run the service: `SUPPORT_URL`. */
import { t } from "../language/text.tsx";
import { currentShell } from "./shell.ts";

/** The subject of a question: its kind, and the id by which operators find it. */
export interface SupportSubject {
  readonly kind: "job" | "purchase";
  readonly id: string;
}

/** The contact of the settings, for the frame of every page; nothing without one. */
export function Support() {
  const { support_url } = currentShell();
  if (support_url === null) return null;
  const mail_address = mailAddressOf(support_url);
  return (
    <span class="support">
      {t("Need help?")}{" "}
      <a href={support_url}>
        {mail_address === null
          ? t("Contact support")
          : t("Write to {address}", { address: mail_address })}
      </a>
    </span>
  );
}

/** "Something wrong?", with the id of a job or purchase in the address. `name`: what it is, for screen readers. */
export function SomethingWrong({ kind, id, name }: SupportSubject & { readonly name: string }) {
  const { support_url, service_name } = currentShell();
  if (support_url === null) return null;
  return (
    <a href={supportAddress(support_url, { kind, id }, service_name)}>
      {t("Something wrong?")}
      <span class="unseen">{` ${t("Contact support about {name}", { name })}`}</span>
    </a>
  );
}

/** `SUPPORT_URL` with the id in its query; an e-mail address gets it in the subject. */
function supportAddress(
  support_url: string,
  { kind, id }: SupportSubject,
  service_name: string,
): string {
  const url = new URL(support_url);
  const mail_address = mailAddressOf(support_url);
  if (mail_address === null) {
    url.searchParams.set(kind, id);
    return url.href;
  }
  const subject = `${url.searchParams.get("subject") ?? service_name}: ${kind} ${id}`;
  // Mail programs show a plus sign as it is, so a space is not written as one.
  return `mailto:${mail_address}?subject=${encodeURIComponent(subject)}`;
}

function mailAddressOf(support_url: string): string | null {
  return /^mailto:([^?]+)/.exec(support_url)?.[1] ?? null;
}
