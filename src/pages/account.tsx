/** The account page's markup: what a signed-in person sees of themselves, and can change. */
import type { Person, SignInMethod } from "../identity/port.ts";
import { Page } from "./layout.tsx";
import { NoticeLine } from "./notice.tsx";
import type { Notice } from "./words.ts";

/** The person's account with its balance, as the wallet has it. */
export interface AccountSummary {
  readonly id: string;
  readonly plan: string;
  readonly credits: number;
}

export interface AccountPageProps {
  readonly person: Person;
  readonly account: AccountSummary;
  readonly methods: readonly SignInMethod[];
  readonly notice: Notice | null;
}

const DAY = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });

export function AccountPage({ person, account, methods, notice }: AccountPageProps) {
  return (
    <Page title="Your account">
      <NoticeLine notice={notice} />
      <h1>Your account</h1>
      <Details person={person} account={account} />
      <LinkedMethods person={person} methods={methods} />
      <FurtherMethods person={person} methods={methods} />
      <h2>Access tokens</h2>
      <p>
        <a href="/account/tokens">See and revoke the tokens of devices and programs</a>
      </p>
      <h2>Signing out</h2>
      <form method="post" action="/signout">
        <button type="submit">Sign out</button>
      </form>
      <form method="post" action="/account/signout-everywhere">
        <label class="choice">
          <input type="checkbox" name="personal_tokens" value="end" /> End the access of devices and
          tokens too
        </label>
        <button type="submit" class="quiet">
          Sign out everywhere
        </button>
      </form>
      <p class="hint">
        Everywhere means every browser you signed in with. Apps that are open follow within 15
        minutes. Devices and tokens go on unless you tick the box; what you approved with an app’s
        sign-in always ends with it.
      </p>
    </Page>
  );
}

function Details({ person, account }: { person: Person; account: AccountSummary }) {
  return (
    <dl class="details">
      {person.name === null ? null : (
        <div>
          <dt>Name</dt>
          <dd>{person.name}</dd>
        </div>
      )}
      {person.email === null ? null : (
        <div>
          <dt>E-mail</dt>
          <dd>
            {person.email}
            {person.email_verified ? null : <span class="tag">not verified</span>}
          </dd>
        </div>
      )}
      <div>
        <dt>Credits</dt>
        <dd>{account.credits.toLocaleString("en")}</dd>
      </div>
      <div>
        <dt>Plan</dt>
        <dd>{account.plan}</dd>
      </div>
      <div>
        <dt>Account id</dt>
        <dd>
          <code>{account.id}</code>
        </dd>
      </div>
    </dl>
  );
}

function LinkedMethods({ person, methods }: Pick<AccountPageProps, "person" | "methods">) {
  const only_one = person.linked.length < 2;
  return (
    <section aria-labelledby="linked">
      <h2 id="linked">How you sign in</h2>
      <ul class="linked">
        {person.linked.map(({ provider, linked_at_ms }) => {
          const name = nameOf(provider, methods);
          const linked_at = new Date(linked_at_ms);
          return (
            <li>
              <span>
                <strong>{name}</strong>{" "}
                <span class="hint">
                  since <time datetime={linked_at.toISOString()}>{DAY.format(linked_at)}</time>
                </span>
              </span>
              {only_one ? null : (
                <form method="post" action="/account/unlink">
                  <input type="hidden" name="provider" value={provider} />
                  <button type="submit" class="quiet small">
                    Unlink<span class="unseen">{` ${name}`}</span>
                  </button>
                </form>
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function FurtherMethods({ person, methods }: Pick<AccountPageProps, "person" | "methods">) {
  const linked = new Set(person.linked.map(({ provider }) => provider));
  const further = methods.filter(({ id }) => !linked.has(id));
  if (further.length === 0) return null;
  return (
    <section aria-labelledby="further">
      <h2 id="further">Sign in another way too</h2>
      {further.map(({ id, name }) => (
        <form method="post" action="/account/link">
          <input type="hidden" name="provider" value={id} />
          <button type="submit" class="quiet">{`Link ${name}`}</button>
        </form>
      ))}
    </section>
  );
}

/** The name on the way's button; for one that is no longer offered, what the table has. */
function nameOf(provider: string, methods: readonly SignInMethod[]): string {
  if (provider === "dev") return "Development";
  return methods.find(({ id }) => id === provider)?.name ?? provider;
}
