/** Beside an account: who it is, what has access to it, and what may be done about that. */
import { Time } from "../layout/time.tsx";
import { describeLimits } from "../account/tokens_page.tsx";
import { credits, nameFromSlug } from "../layout/account_words.ts";
import type { AccountInFull, ConsoleAccountPageProps, ShownToken } from "./account_page.tsx";
import { Panel } from "./panel.tsx";
import { accountAddress, consoleAddress } from "./table.tsx";

type Of = Pick<ConsoleAccountPageProps, "person" | "it">;

/** The way to the form of an act. */
export function ActLink({ to, act, text }: { to: Of["person"]; act: string; text: string }) {
  return (
    <a class="button quiet small" href={accountAddress(to.identity_id, act)}>
      {text}
    </a>
  );
}

export function Who({ person, it: { account } }: Of) {
  return (
    <Panel id="who" title="Person" class="profile">
      <p>
        {[person.name, person.email].filter(Boolean).join(" · ") || "No name or address is known."}
        {person.email === null || person.email_verified ? null : (
          <span class="tag">not verified</span>
        )}
      </p>
      <dl class="details">
        <div>
          <dt>Plan</dt>
          <dd>
            {nameFromSlug(account.plan)}{" "}
            <a href={accountAddress(person.identity_id, "plan")}>Change</a>
          </dd>
        </div>
        <div>
          <dt>Since</dt>
          <dd>
            <Time at_ms={account.created_at_ms} style="day" />
          </dd>
        </div>
        <div>
          <dt>Signs in by</dt>
          <dd>{person.linked.map(({ provider }) => nameFromSlug(provider)).join(", ")}</dd>
        </div>
        <div>
          <dt>Identity</dt>
          <dd>
            <code>{person.identity_id}</code>
          </dd>
        </div>
        <div>
          <dt>Account</dt>
          <dd>
            <code>{account.id}</code>
          </dd>
        </div>
      </dl>
    </Panel>
  );
}

export function Apps({
  apps,
  appName,
}: Pick<AccountInFull, "apps"> & Pick<ConsoleAccountPageProps, "appName">) {
  return (
    <Panel id="apps" title="Apps and grants">
      {apps.length === 0 ? <p class="hint">It has met no app yet.</p> : null}
      <ul class="rows">
        {apps.map(({ slug, starter_credits, granted_at_ms }) => (
          <li>
            <a href={`/console/apps/${encodeURIComponent(slug)}`}>{appName(slug)}</a>
            <span class="hint">
              {granted_at_ms === null ? (
                "nothing granted"
              ) : (
                <>
                  {credits(starter_credits)}, <Time at_ms={granted_at_ms} style="day" />
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

export function Tokens({
  person,
  tokens,
  appName,
}: Pick<ConsoleAccountPageProps, "person" | "appName"> & { tokens: readonly ShownToken[] }) {
  const address = accountAddress(person.identity_id, "revoke-token");
  return (
    <Panel id="tokens" title="Devices and tokens">
      {tokens.length === 0 ? <p class="hint">No device or program has access.</p> : null}
      <ul class="rows">
        {tokens.map(({ id, label, limits, spent, last_used_at_ms, expires_at_ms }) => (
          <li>
            <span>
              <strong>{label}</strong>
              <span class="hint below">
                {describeLimits(limits, spent, appName)}{" "}
                {last_used_at_ms === null ? (
                  "Never used"
                ) : (
                  <>
                    Used <Time at_ms={last_used_at_ms} style="day" />
                  </>
                )}
                , ends <Time at_ms={expires_at_ms} style="day" />.
              </span>
            </span>
            <a class="button quiet small" href={consoleAddress(address, { token_id: id })}>
              Revoke<span class="unseen">{` ${label}`}</span>
            </a>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

export function Sessions({
  person,
  sessions,
}: Pick<ConsoleAccountPageProps, "person" | "sessions">) {
  return (
    <Panel id="sessions" title="Signed-in browsers">
      {sessions.length === 0 ? <p class="hint">None.</p> : null}
      <ul class="rows">
        {sessions.map(({ browser, city, country, created_at_ms, last_used_at_ms }) => (
          <li>
            <span>
              {browser ?? "A browser"}
              <span class="hint below">
                {[city, country, "used"].filter(Boolean).join(" · ")}{" "}
                <Time at_ms={last_used_at_ms ?? created_at_ms} style="day" />
              </span>
            </span>
          </li>
        ))}
      </ul>
      {sessions.length === 0 ? null : (
        <div class="acts">
          <ActLink to={person} act="signout" text="Sign out everywhere" />
        </div>
      )}
    </Panel>
  );
}

export function State({ person, it: { account }, standing }: ConsoleAccountPageProps) {
  return (
    <Panel id="state" title="State">
      {account.suspended_at_ms === null ? (
        <p class="hint">Open: its owner and their apps may use it.</p>
      ) : (
        <p>
          <strong>Suspended</strong> since <Time at_ms={account.suspended_at_ms} />.
        </p>
      )}
      <p class="hint">{standing}</p>
      <div class="acts">
        {account.suspended_at_ms === null ? (
          <ActLink to={person} act="suspend" text="Suspend" />
        ) : (
          <ActLink to={person} act="restore" text="Restore" />
        )}
        <ActLink to={person} act="rebuild" text="Send to the read model" />
      </div>
    </Panel>
  );
}
