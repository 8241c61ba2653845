/** The person's personal tokens: what each may do, and a button to revoke it. */
import type { ListedPersonalToken } from "../../account/contract.ts";
import type { PersonalTokenLimits } from "../../domain/personal_token.ts";
import { Page } from "../layout/layout.tsx";
import { Time } from "../layout/time.tsx";

export interface TokensPageProps {
  readonly tokens: readonly ListedPersonalToken[];
  readonly appName: (slug: string) => string;
}

export function PersonalTokensPage({ tokens, appName }: TokensPageProps) {
  return (
    <Page title="Devices and tokens" section="tokens" scripts={["times.js"]}>
      <h1>Devices and tokens</h1>
      {tokens.length === 0 ? (
        <p>No device or program has access to your account.</p>
      ) : (
        <>
          <p>These can use your account. If you revoke one, it loses its access immediately.</p>
          <ul class="tokens">
            {tokens.map((token) => (
              <Token token={token} appName={appName} />
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

function Token(props: { token: ListedPersonalToken } & Pick<TokensPageProps, "appName">) {
  const { token, appName } = props;
  const { id, label, limits, spent, created_at_ms, last_used_at_ms, expires_at_ms } = token;
  return (
    <li>
      <h2>{label}</h2>
      <p>{describeLimits(limits, spent, appName)}</p>
      <p class="hint">
        Connected <Time at_ms={created_at_ms} style="day" />,{" "}
        {last_used_at_ms === null ? (
          "never used"
        ) : (
          <>
            last used <Time at_ms={last_used_at_ms} style="day" />
          </>
        )}
        , expires <Time at_ms={expires_at_ms} style="day" />
        {token.ends_with_session ? ", or when the sign-in that approved it ends" : ""}.
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

/** The limits of a token as sentences. */
export function describeLimits(
  { access, upstream, admin, app_slugs, cap }: PersonalTokenLimits,
  spent: number | null,
  appName: TokensPageProps["appName"],
): string {
  const operates = admin ? " Can also operate the service, as long as you are an operator." : "";
  if (access === "none") return `Has no access to your account.${operates}`;
  const what = access === "read" ? "Can read" : "Can read and spend";
  const where = app_slugs === null ? "in all apps" : `in ${app_slugs.map(appName).join(", ")}`;
  const beyond = upstream ? " Can also get your access tokens for other services." : "";
  const more = `${beyond}${operates}`;
  // A token that can only read spends nothing, so its cap does not matter.
  if (cap === null || access === "read") return `${what} ${where}.${more}`;
  const period = cap.period === "total" ? "in total" : "every 30 days";
  return `${what} ${where}, at most ${cap.credits} credits ${period}; ${spent ?? 0} spent.${more}`;
}
