/** The side panels of an account's page: the person, apps, tokens, sessions, and the status. */
import type { InspectedAccount } from "../../account/contract.ts";
import type { ListedSession, Person } from "../../identity/port.ts";
import { Time } from "../layout/time.tsx";
import {
  AllowanceTimes,
  CapList,
  describeRights,
  holderOf,
  nestAllowances,
} from "../account/connection_facts.tsx";
import { credits, nameFromSlug } from "../layout/labels.ts";
import { CONSOLE_ROLES } from "../../http/caller/operator_roles.ts";
import type { OperatorRole } from "../../domain/operators.ts";
import type { AccountAction } from "./labels.ts";
import { Details, Panel, RowLink } from "./panel.tsx";
import { ForRole, mayAct } from "./permission.tsx";
import { accountPath, consolePath } from "./table.tsx";

export interface AccountPanelsProps {
  readonly person: Person;
  readonly inspected: InspectedAccount;
  readonly sessions: readonly ListedSession[];
  /** How much of the account the read model has, as a sentence. */
  readonly read_model_progress: string;
  readonly appName: (slug: string | null) => string;
}

type AccountProps = Pick<AccountPanelsProps, "person" | "inspected">;

/** A link to the form of an action. */
export function ActionLink(props: {
  readonly to: AccountProps["person"];
  readonly action: AccountAction | "credits";
  readonly text: string;
}) {
  const { to, action, text } = props;
  return (
    <ForRole role={actionRole(action)} action={text}>
      <a class="button quiet small" href={accountPath(to.identity_id, action)}>
        {text}
      </a>
    </ForRole>
  );
}

function actionRole(action: AccountAction | "credits"): OperatorRole {
  return CONSOLE_ROLES[`POST /console/accounts/:identity_id/${action}`] ?? "admin";
}

export function PersonPanel({ person, inspected: { account } }: AccountProps) {
  return (
    <Panel id="who" title="Person" class="profile">
      <p>
        {[person.name, person.email].filter(Boolean).join(" · ") ||
          "No name or e-mail address is known."}
        {person.email === null || person.email_verified ? null : (
          <span class="tag">not verified</span>
        )}
      </p>
      <Details
        facts={[
          [
            "Plan",
            <>
              {nameFromSlug(account.plan)}{" "}
              {mayAct(actionRole("plan")) ? (
                <a href={accountPath(person.identity_id, "plan")}>Change</a>
              ) : null}
            </>,
          ],
          ["Since", <Time at_ms={account.created_at_ms} style="day" />],
          ["Signs in with", person.linked.map(methodName).join(", ")],
          ["Identity", <code>{person.identity_id}</code>],
          ["Account", <code>{account.id}</code>],
        ]}
      />
    </Panel>
  );
}

const methodName = ({ provider, passkey }: Person["linked"][number]): string =>
  passkey === null ? nameFromSlug(provider) : `${passkey.name} (passkey)`;

export function Apps({
  apps,
  appName,
}: Pick<InspectedAccount, "apps"> & Pick<AccountPanelsProps, "appName">) {
  return (
    <Panel id="apps" title="Apps and starter credits">
      {apps.length === 0 ? <p class="hint">It has not been used with any app yet.</p> : null}
      <ul class="rows">
        {apps.map(({ slug, starter_credits, granted_at_ms }) => (
          <li>
            <a href={`/console/apps/${encodeURIComponent(slug)}`}>{appName(slug)}</a>
            <span class="hint">
              {granted_at_ms === null ? (
                "no starter credits"
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
}: Pick<AccountPanelsProps, "person" | "appName"> & {
  readonly tokens: InspectedAccount["allowances"];
}) {
  const address = accountPath(person.identity_id, "revoke-token");
  return (
    <Panel id="tokens" title="Connections">
      {tokens.length === 0 ? (
        <p class="hint">No client is connected, and no device or program has a token.</p>
      ) : null}
      <ul class="rows">
        {nestAllowances(tokens).map(({ allowance, depth }) => (
          <li class={depth === 0 ? undefined : `below-${Math.min(depth, 3)}`}>
            <span>
              <strong>{allowance.label}</strong>
              <span class="hint below">
                {holderOf(allowance)}. {describeRights(allowance, appName)}{" "}
                <AllowanceTimes allowance={allowance} />
              </span>
              <CapList allowance={allowance} />
            </span>
            {mayAct(actionRole("revoke-token")) ? (
              <RowLink
                href={consolePath(address, { token_id: allowance.id })}
                text="Revoke"
                about={allowance.label}
              />
            ) : null}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

export function Sessions({ person, sessions }: Pick<AccountPanelsProps, "person" | "sessions">) {
  return (
    <Panel id="sessions" title="Signed-in browsers">
      {sessions.length === 0 ? <p class="hint">No browser is signed in.</p> : null}
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
          <ActionLink to={person} action="signout" text="Sign out everywhere" />
        </div>
      )}
    </Panel>
  );
}

export function Status({ person, inspected, read_model_progress }: AccountPanelsProps) {
  const { account } = inspected;
  return (
    <Panel id="status" title="Status">
      {account.suspended_at_ms === null ? (
        <p class="hint">Active: its holder and their apps can use it.</p>
      ) : (
        <p>
          <strong>Suspended</strong> since <Time at_ms={account.suspended_at_ms} />.
          {account.suspended_public_reason === null
            ? " The holder was told no reason."
            : ` The holder reads: “${account.suspended_public_reason}”`}
        </p>
      )}
      <p class="hint">{read_model_progress}</p>
      <div class="acts">
        {account.suspended_at_ms === null ? (
          <ActionLink to={person} action="suspend" text="Suspend" />
        ) : (
          <ActionLink to={person} action="restore" text="Restore" />
        )}
        <ActionLink to={person} action="rebuild" text="Refresh lists and charts" />
      </div>
      <h3>Privacy requests</h3>
      <div class="acts">
        <ActionLink to={person} action="export" text="Export the data" />
        <ActionLink to={person} action="delete" text="Delete the account" />
      </div>
    </Panel>
  );
}
