/** `GET /api/access`: everything that may act on the account, each list with the newest use first. */
import type { AccessAllowance } from "../../../account/contract.ts";
import { appIconPath } from "../../../domain/app_icon.ts";
import {
  readAccessList,
  type ListedApp,
  type ListedBrowser,
} from "../../allowances/access_list.ts";
import { endpoint } from "../endpoint.ts";
import { refuse } from "../../refusals.ts";
import { allowanceView, timeOrNull, timestamp } from "../../views.ts";

export const readAccess = endpoint({ at: "GET /api/access", caller: "user" }, async (context) => {
  const read = await readAccessList(context);
  if (!read.ok) return refuse(context, read.refusal);
  const { apps, allowances, browsers } = read.value;
  const isToken = ({ kind }: AccessAllowance): boolean => kind === "device";
  const base_url = context.get("base_url");
  return context.json({
    apps: apps.map((app) => appView(app, base_url)),
    connections: rootsOf(allowances)
      .filter((root) => !isToken(root))
      .map((root) => connectionView(root, allowances)),
    tokens: rootsOf(allowances)
      .filter(isToken)
      .map((root) => tokenView(root, allowances)),
    browsers: browsers.map(browserView),
  });
});

export function appView({ registered, last_used_at_ms, ...app }: ListedApp, base_url: string) {
  const icon_hash = registered?.icon_hash ?? null;
  return {
    ...app,
    name: registered?.name ?? app.slug,
    icon: icon_hash === null ? null : base_url + appIconPath(icon_hash),
    host: registered?.host ?? null,
    last_used_at: timeOrNull(last_used_at_ms),
  };
}

function rootsOf(listed: readonly AccessAllowance[]): readonly AccessAllowance[] {
  return listed.filter(({ parent_id }) => parent_id === null);
}

/** The fields that connections and tokens share. */
function commonView(allowance: AccessAllowance) {
  return { ...allowanceView(allowance), spent_this_month: allowance.spent_this_month };
}

function connectionView(connection: AccessAllowance, listed: readonly AccessAllowance[]): object {
  const { client_id, client_host, label } = connection;
  return {
    ...commonView(connection),
    client_id,
    name: label,
    host: client_host,
    registered: client_id !== null && client_host === null,
    children: childrenOf(connection, listed).map((child) => connectionView(child, listed)),
  };
}

function tokenView(token: AccessAllowance, listed: readonly AccessAllowance[]): object {
  return {
    ...commonView(token),
    label: token.label,
    current: token.current,
    children: childrenOf(token, listed).map((child) => tokenView(child, listed)),
  };
}

function childrenOf({ id }: AccessAllowance, listed: readonly AccessAllowance[]) {
  return listed.filter(({ parent_id }) => parent_id === id);
}

function browserView({ created_at_ms, last_used_at_ms, ...browser }: ListedBrowser) {
  return {
    ...browser,
    started_at: timestamp(created_at_ms),
    last_used_at: timeOrNull(last_used_at_ms),
  };
}
