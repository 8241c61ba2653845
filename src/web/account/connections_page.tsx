/** The person's connections: devices, apps and agents, what each may do, and the pages that change or end one. */
import type { ListedAllowance } from "../../account/contract.ts";
import { ConfirmPage } from "../layout/confirm_page.tsx";
import { counted } from "../layout/labels.ts";
import { NoticeLine, Page } from "../layout/layout.tsx";
import {
  AllowanceTimes,
  CapList,
  describeRights,
  holderOf,
  nestAllowances,
} from "./connection_facts.tsx";

const LIST = "/account/connections";

export interface ConnectionsPageProps {
  readonly allowances: readonly ListedAllowance[];
  readonly appName: (slug: string) => string;
  /** What was just done; null: nothing. */
  readonly notice: string | null;
}

export function ConnectionsPage({ allowances, appName, notice }: ConnectionsPageProps) {
  return (
    <Page title="Connections" section="connections" scripts={["times.js"]}>
      <NoticeLine notice={notice} />
      <h1>Connections</h1>
      {allowances.length === 0 ? (
        <p>No device, app or program has access to your account.</p>
      ) : (
        <>
          <p>These can use your account. If you revoke one, it loses its access immediately.</p>
          <ul class="tokens">
            {nestAllowances(allowances).map(({ allowance, depth }) => (
              <Connection allowance={allowance} depth={depth} appName={appName} />
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

type ConnectionProps = {
  readonly allowance: ListedAllowance;
} & Pick<ConnectionsPageProps, "appName">;

function Connection({ allowance, depth, appName }: ConnectionProps & { readonly depth: number }) {
  const { id, label } = allowance;
  const query = new URLSearchParams({ id }).toString();
  return (
    <li class={depth === 0 ? undefined : `below-${Math.min(depth, 3)}`}>
      <h2>{label}</h2>
      <Facts allowance={allowance} appName={appName} />
      <p class="acts">
        <a class="button quiet small" href={`${LIST}/edit?${query}`} aria-label={`Edit ${label}`}>
          Edit
        </a>
        <a
          class="button quiet small"
          href={`${LIST}/revoke?${query}`}
          aria-label={`Revoke ${label}`}
        >
          Revoke
        </a>
      </p>
    </li>
  );
}

function Facts({ allowance, appName }: ConnectionProps) {
  return (
    <>
      <p class="hint">{holderOf(allowance)}</p>
      <p>{describeRights(allowance, appName)}</p>
      <CapList allowance={allowance} />
      <p class="hint">
        <AllowanceTimes allowance={allowance} />
      </p>
    </>
  );
}

/** Asks before a connection loses its access. `children_count`: the connections that end with it. */
export function RevokePage(props: ConnectionProps & { readonly children_count: number }) {
  const { allowance, appName, children_count } = props;
  const also =
    children_count === 0
      ? ""
      : ` So does everything below it: ${counted(children_count, "agent or service", "agents and services")}.`;
  return (
    <ConfirmPage
      title={`Revoke “${allowance.label}”?`}
      section="connections"
      path={`${LIST}/revoke`}
      fields={[["id", allowance.id]]}
      button="Revoke"
      cancel_path={LIST}
    >
      <Facts allowance={allowance} appName={appName} />
      <p>
        It loses its access immediately, and its running jobs end.{also} You cannot undo this;
        connect it again if you need it.
      </p>
    </ConfirmPage>
  );
}
