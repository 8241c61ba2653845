/** The person's personal tokens: what each may do, and a button to revoke it. */
import type { ListedAllowance, ListedCap } from "../../account/contract.ts";
import type { AllowanceLimits } from "../../domain/allowance.ts";
import { PERIOD_NAMES } from "../device/choices.tsx";
import { ConfirmPage } from "../layout/confirm_page.tsx";
import { NoticeLine, Page } from "../layout/layout.tsx";
import { Time } from "../layout/time.tsx";

export interface TokensPageProps {
  readonly tokens: readonly ListedAllowance[];
  readonly appName: (slug: string) => string;
  /** What was just done; null: nothing. */
  readonly notice: string | null;
}

export function PersonalTokensPage({ tokens, appName, notice }: TokensPageProps) {
  return (
    <Page title="Devices and tokens" section="tokens" scripts={["times.js"]}>
      <NoticeLine notice={notice} />
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
      <p class="acts">
        <a class="button quiet" href="/device">
          Connect a device
        </a>
        <a class="button quiet" href="/account/tokens/new">
          Make a token
        </a>
      </p>
    </Page>
  );
}

type TokenProps = { readonly token: ListedAllowance } & Pick<TokensPageProps, "appName">;

function Token({ token, appName }: TokenProps) {
  const { id, label } = token;
  return (
    <li>
      <h2>{label}</h2>
      <TokenFacts token={token} appName={appName} />
      <form method="get" action="/account/tokens/revoke">
        <input type="hidden" name="personal_token_id" value={id} />
        <button type="submit" class="quiet small" aria-label={`Revoke ${label}`}>
          Revoke
        </button>
      </form>
    </li>
  );
}

/** Asks before a token loses its access. */
export function RevokeTokenPage({ token, appName }: TokenProps) {
  return (
    <ConfirmPage
      title={`Revoke “${token.label}”?`}
      section="tokens"
      path="/account/tokens/revoke"
      fields={[["personal_token_id", token.id]]}
      button="Revoke"
      cancel_path="/account/tokens"
    >
      <TokenFacts token={token} appName={appName} />
      <p>
        It loses its access immediately, and its running jobs end. You cannot undo this; connect the
        device again if you need it.
      </p>
    </ConfirmPage>
  );
}

function TokenFacts({ token, appName }: TokenProps) {
  const { limits, caps, created_at_ms, last_used_at_ms, expires_at_ms } = token;
  return (
    <>
      <p>{describeLimits(limits, caps, appName)}</p>
      <p class="hint">
        Made <Time at_ms={created_at_ms} style="day" />,{" "}
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
    </>
  );
}

/** The limits of a token as sentences. */
export function describeLimits(
  { access, upstream, admin, app_slugs }: AllowanceLimits,
  caps: readonly ListedCap[],
  appName: TokensPageProps["appName"],
): string {
  const operates = admin ? " Can also operate the service, as long as you are an operator." : "";
  if (access === "none") return `Has no access to your account.${operates}`;
  const what = access === "read" ? "Can read" : "Can read and spend";
  const where = app_slugs === null ? "in all apps" : `in ${app_slugs.map(appName).join(", ")}`;
  const beyond = upstream ? " Can also get your access tokens for other services." : "";
  const more = `${beyond}${operates}`;
  // A token that can only read spends nothing, so its cap does not matter.
  if (caps.length === 0 || access === "read") return `${what} ${where}.${more}`;
  const most = caps.map(
    ({ credits, period, spent }) => `${credits} credits ${PERIOD_NAMES[period]} (${spent} spent)`,
  );
  return `${what} ${where}, at most ${most.join(" and ")}.${more}`;
}
