/** The pages of requests that cannot be decided: each states the reason and one next step. */
import type { AuthorizeError } from "../../domain/authorize_request.ts";
import { shownAddress } from "../../domain/origins.ts";
import { Page } from "../layout/layout.tsx";
import { message, say, t, type Message, type PlainText } from "../language/text.tsx";
import type { Problem } from "../layout/messages.ts";
import { ProblemPage, ProblemText } from "../layout/problem_page.tsx";
import type { CannotAsk, KnownClient } from "./read_request.ts";

const START_AGAIN: PlainText = "Go back to the app and start again.";
const TELL_DEVELOPER: PlainText =
  "Close this page. If it happens again, tell the people who make the app what this page says.";

/** Each without a name of the client: nothing about it is known for certain. */
const CANNOT_ASK: Readonly<Record<CannotAsk, Problem>> = {
  client_id_missing: {
    title: "We do not know which app this is",
    what: "The request has no client_id. Nothing was shared or changed.",
    next: TELL_DEVELOPER,
  },
  client_id_repeated: {
    title: "We do not know which app this is",
    what: "The request has client_id more than once. Nothing was shared or changed.",
    next: TELL_DEVELOPER,
  },
  redirect_uri_missing: {
    title: "We do not know where to send you back to",
    what: "The request has no redirect_uri. Nothing was shared or changed.",
    next: TELL_DEVELOPER,
  },
  redirect_uri_repeated: {
    title: "We do not know where to send you back to",
    what: "The request has redirect_uri more than once. Nothing was shared or changed.",
    next: TELL_DEVELOPER,
  },
  client_unknown: {
    title: "We do not know this app",
    what: "It is not registered here, or its description cannot be read. Nothing was shared or changed.",
    next: TELL_DEVELOPER,
  },
  name_taken: {
    title: "This app uses another’s name",
    what: "Nobody registered it here, and it calls itself like this service or an app that is registered here. Nothing was shared or changed.",
    next: "Someone may be trying to get your access. Close this page.",
  },
  host_unusable: {
    title: "This app cannot be connected",
    what: "Nobody registered it here, so it would act under the name of its host, which is too long or is the name of an app that is registered here. Nothing was shared or changed.",
    next: TELL_DEVELOPER,
  },
  redirect_uri_unknown: {
    title: "We can’t send you back to that address",
    what: "The app did not register the address that it named. Someone may be trying to get your access. The address:",
    next: TELL_DEVELOPER,
  },
  not_signed_in: {
    title: "You are not signed in",
    what: "The app wanted to connect without showing you a page. Nothing was shared or changed.",
    next: "Sign in, then start again in the app.",
  },
  request_too_long: {
    title: "This request is too long",
    what: "It is too long to be kept while you sign in. Nothing was shared or changed.",
    next: TELL_DEVELOPER,
  },
  form_unreadable: {
    title: "This form cannot be used",
    what: "It was not made by this service, or is too old. Nothing was shared or changed.",
    next: START_AGAIN,
  },
};

export function CannotAskPage(props: {
  readonly problem: CannotAsk;
  readonly redirect_uri: string | undefined;
  readonly other_loopback: string | null | undefined;
  /** Undefined or empty outside development. */
  readonly broken_rules: readonly string[] | undefined;
}) {
  const { problem, redirect_uri, other_loopback = null, broken_rules = [] } = props;
  const text = CANNOT_ASK[problem];
  const next = other_loopback === null ? {} : { next: useSameName(shownAddress(other_loopback)) };
  const address = redirect_uri === undefined ? {} : { address: shownAddress(redirect_uri) };
  const signing_in = { kind: "link", href: "/signin", text: "Sign in" } as const;
  const next_step = problem === "not_signed_in" ? signing_in : null;
  if (broken_rules.length > 0) return <BrokenDocumentPage problem={text} rules={broken_rules} />;
  return <ProblemPage problem={{ ...text, ...address, ...next }} next_step={next_step} />;
}

const useSameName = (registered: string): Message =>
  message(
    "The app registered {registered}. localhost, 127.0.0.1 and [::1] are different addresses, also if they lead to the same machine: its developer must use the same one in both places.",
    { registered },
  );

/** In development the person is the developer of the client. */
function BrokenDocumentPage(props: {
  readonly problem: Problem;
  readonly rules: readonly string[];
}) {
  const { problem, rules } = props;
  return (
    <Page title={say(problem.title)} without_account_link>
      <ProblemText
        problem={{
          title: problem.title,
          what: "The client's document breaks rules. Nothing was shared or changed.",
          next: "Development reads the document again each time: mend it, then load this page again.",
        }}
      />
      <ul>
        {rules.map((rule) => (
          <li>{rule}</li>
        ))}
      </ul>
    </Page>
  );
}

/**
 * An error of a client without a registration. It is sent only if the person follows the link: otherwise any site could
 * use this service to redirect people to an address of its choice (RFC 9700, section 4.11.2). With `prompt=none`, which a
 * browser follows without a person, it is sent at once.
 */
export function ClientErrorPage(props: {
  readonly known: KnownClient;
  readonly error: AuthorizeError;
  readonly return_url: string;
}) {
  const { known, error, return_url } = props;
  const { client } = known;
  const host = client.kind === "document" ? client.host : client.name;
  const title = message("{app} cannot be connected", { app: client.name });
  return (
    <Page title={say(title)} without_account_link>
      <ProblemText
        problem={{
          title,
          what: message(
            "It sent a request that is not valid: {error} Nothing was shared or changed.",
            { error: `${error.error_description} (${error.error})` },
          ),
          next: message(
            "If you trust {host}, you can go back to it with this error. Otherwise close this page.",
            { host },
          ),
        }}
      />
      <a class="button quiet" href={return_url} rel="noreferrer">
        {t("Go back to {app}", { app: client.name })}
      </a>
    </Page>
  );
}

/** The account has as many allowances as it can have. */
export function RoomFullPage({ name, this_page }: { name: string; this_page: string }) {
  return (
    <Page title={t("Too many connections")} without_account_link>
      <ProblemText
        problem={{
          title: "Too many connections",
          what: message(
            "Your account has as many devices, apps and tokens as it can have, so {app} cannot be connected.",
            { app: name },
          ),
          next: "End the access of one that you no longer need. Then load this page again.",
        }}
      />
      <div class="acts next">
        <a class="button" href="/account/access">
          {t("Your connections")}
        </a>
        <a class="button quiet" href={this_page}>
          {t("Try again")}
        </a>
      </div>
    </Page>
  );
}
