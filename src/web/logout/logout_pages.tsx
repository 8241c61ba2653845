/** The page that asks before a client signs a person out, and the page of a request that cannot be followed. */
import { shownAddress } from "../../domain/origins.ts";
import type { OAuthClient } from "../../domain/oauth_client.ts";
import { t } from "../language/text.tsx";
import { Page } from "../layout/layout.tsx";
import type { Problem } from "../layout/messages.ts";
import { ProblemPage } from "../layout/problem_page.tsx";
import { currentShell } from "../layout/shell.ts";

export type CannotSignOut =
  | "parameter_repeated"
  | "hint_invalid"
  | "hint_of_other_client"
  | "client_missing"
  | "client_unknown"
  | "address_unknown";

const NEXT = "You can sign out on your account page.";

const CANNOT: Readonly<Record<CannotSignOut, Problem>> = {
  parameter_repeated: {
    title: "We could not sign you out",
    what: "The app’s request has a parameter twice. If you were signed in, you still are.",
    next: NEXT,
  },
  hint_invalid: {
    title: "We could not sign you out",
    what: "The app’s request has an ID token that this service did not make. If you were signed in, you still are.",
    next: NEXT,
  },
  hint_of_other_client: {
    title: "We could not sign you out",
    what: "The app’s request has an ID token of another app. If you were signed in, you still are.",
    next: NEXT,
  },
  client_missing: {
    title: "We could not sign you out",
    what: "The request names an address to go to, but not the app that it belongs to. If you were signed in, you still are.",
    next: NEXT,
  },
  client_unknown: {
    title: "We do not know this app",
    what: "It is not registered here, or its description cannot be read. If you were signed in, you still are.",
    next: NEXT,
  },
  address_unknown: {
    title: "We can’t send you to that address",
    what: "The app did not register the address that it named. If you were signed in, you still are. The address:",
    next: NEXT,
  },
};

export function CannotSignOutPage(props: {
  readonly problem: CannotSignOut;
  readonly address?: string;
}) {
  const { problem, address } = props;
  const shown = address === undefined ? {} : { address: shownAddress(address) };
  const to_account = { kind: "link", href: "/account", text: "Your account" } as const;
  return <ProblemPage problem={{ ...CANNOT[problem], ...shown }} next_step={to_account} />;
}

/** `target`: where the browser goes then. `query`: the request, which the form repeats. */
export function SignOutPage(props: {
  readonly client: OAuthClient | null;
  readonly target: string;
  readonly query: URLSearchParams;
}) {
  const { client, target, query } = props;
  const { service_name, host: own_host } = currentShell();
  const title = t("Sign out of {service}?", { service: service_name });
  const { host } = new URL(target);
  return (
    <Page title={title} without_account_link>
      <h1>{title}</h1>
      <p>
        {t(
          "{asker} asks to sign you out in this browser. You will have to sign in again, also in other apps that use {service}. What you allowed to stay connected keeps its access.",
          { asker: client?.name ?? t("Another page"), service: service_name },
        )}
      </p>
      {host === own_host ? null : <p>{t("Then you go to {host}.", { host })}</p>}
      <form method="post" action={`/oauth/logout/confirm?${query.toString()}`} class="acts next">
        <button type="submit">{t("Sign out")}</button>
        <a class="button quiet" href="/account">
          {t("Stay signed in")}
        </a>
      </form>
    </Page>
  );
}
