/** The page of a person's personal access tokens: what each may do, and a way to end it. */
import type { PersonalTokenLimits } from "../../domain/personal_token.ts";
import { Page } from "../layout/layout.tsx";
import { timeText } from "../layout/time.tsx";

/** A token as the page shows it. */
export interface PersonalTokenLine {
  readonly id: string;
  readonly label: string;
  readonly limits: PersonalTokenLimits;
  /** Credits spent of its cap; null without one. */
  readonly spent: number | null;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
  readonly expires_at: Date;
  /** Whether it ends when the session that approved it does. */
  readonly ends_with_session: boolean;
}

export interface TokensPageProps {
  readonly tokens: readonly PersonalTokenLine[];
  readonly appName: (slug: string) => string;
}

export function PersonalTokensPage({ tokens, appName }: TokensPageProps) {
  return (
    <Page title="Devices and tokens" section="tokens" scripts={["times.js"]}>
      <h1>Devices and tokens</h1>
      {tokens.length === 0 ? (
        <p>No device has access to your account.</p>
      ) : (
        <>
          <p>These may use your account. Revoking one takes effect at once.</p>
          <ul class="tokens">
            {tokens.map((token) => (
              <Token {...token} appName={appName} />
            ))}
          </ul>
        </>
      )}
      <a class="button quiet" href="/device">
        Connect a device
      </a>
    </Page>
  );
}

function Token(props: PersonalTokenLine & Pick<TokensPageProps, "appName">) {
  const { id, label, limits, spent, appName, created_at, last_used_at, expires_at } = props;
  return (
    <li>
      <h2>{label}</h2>
      <p>{describeLimits(limits, spent, appName)}</p>
      <p class="hint">
        Connected <Day at={created_at} />,{" "}
        {last_used_at === null ? (
          "never used"
        ) : (
          <>
            last used <Day at={last_used_at} />
          </>
        )}
        , ends <Day at={expires_at} />
        {props.ends_with_session ? ", or with the sign-in that approved it" : ""}.
      </p>
      <form method="post" action="/account/tokens/revoke">
        <input type="hidden" name="personal_token_id" value={id} />
        <button type="submit" class="quiet small" aria-label={`Revoke ${label}`}>
          Revoke
        </button>
      </form>
    </li>
  );
}

function Day({ at }: { at: Date }) {
  return <time datetime={at.toISOString()}>{timeText(at.getTime(), "day")}</time>;
}

/** What a token may do, in sentences. */
export function describeLimits(
  { access, upstream, admin, app_slugs, cap }: PersonalTokenLimits,
  spent: number | null,
  appName: TokensPageProps["appName"],
): string {
  const operates = admin ? " It operates the service, if you do." : "";
  if (access === "none") return `May do nothing in your account.${operates}`;
  const what = access === "read" ? "May read" : "May read and spend";
  const where = app_slugs === null ? "in all apps" : `in ${app_slugs.map(appName).join(", ")}`;
  const beyond = upstream ? " It also gets the tokens you gave us for other services." : "";
  const more = `${beyond}${operates}`;
  // What may only read spends nothing, whatever its cap.
  if (cap === null || access === "read") return `${what} ${where}.${more}`;
  const period = cap.period === "total" ? "in total" : "every 30 days";
  return `${what} ${where}, at most ${cap.credits} credits ${period}; ${spent ?? 0} spent.${more}`;
}
