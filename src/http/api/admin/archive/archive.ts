/** The archive of the ledger, and comparisons of accounts with their copies. */
import { base64url } from "jose";
import { emptyBody } from "../../../../operator/account_actions.ts";
import * as archive from "../../../../operator/archive.ts";
import type { AccountThen, RecoveryPlan } from "../../../../account/contract.ts";
import { reasonBody } from "../../../../operator/audited_action.ts";
import * as lost_accounts from "../../../../operator/restore_lost.ts";
import * as recovery from "../../../../operator/recover_account.ts";
import * as directory from "../../../../operator/rebuild_directory.ts";
import * as differences from "../../../../operator/differences.ts";
import { actingOf } from "../../../caller/acting.ts";
import { holderId } from "../../../caller/holder.ts";
import { refuse } from "../../../refusals.ts";
import { respondDone, respondOnce, timestamp } from "../../../views.ts";
import { endpoint } from "../../endpoint.ts";

export const listArchiveHeads = endpoint(
  {
    at: "GET /api/admin/archive",
    role: "admin",
    query: archive.headsQuery,
    refusals: ["not_found"],
  },
  async (context, { query }) => {
    const listed = await archive.listHeads(context.get("services"), query);
    return listed.ok ? context.json(listed.value) : refuse(context, listed.refusal);
  },
);

export const archiveAccounts = endpoint(
  {
    at: "POST /api/admin/archive",
    role: "admin",
    body: archive.archiveAllBody,
    body_is_optional: true,
    refusals: ["not_found"],
  },
  async (context, { body, key }) => {
    const requested = await archive.archiveAccounts(await actingOf(context), body, key);
    return respondOnce(context, requested, (page) => page);
  },
);

export const readAccountArchive = endpoint(
  {
    at: "GET /api/admin/accounts/{identity_id}/archive",
    role: "admin",
    query: archive.segmentsQuery,
    refusals: ["not_found"],
  },
  async (context, { query }) => {
    const read = await archive.readArchive(context.get("services"), holderId(context), query);
    return read.ok ? context.json(read.value) : refuse(context, read.refusal);
  },
);

export const readArchiveSegment = endpoint(
  {
    at: "GET /api/admin/accounts/{identity_id}/archive/{segment}",
    role: "admin",
    refusals: ["not_found"],
  },
  async (context, { params: { segment } }) => {
    const read = await archive.readSegment(context.get("services"), holderId(context), segment);
    if (!read.ok) return refuse(context, read.refusal);
    return context.json({ name: segment, content: base64url.encode(read.value) });
  },
);

export const archiveAccount = endpoint(
  {
    at: "POST /api/admin/accounts/{identity_id}/archive",
    role: "admin",
    body: emptyBody,
    body_is_optional: true,
    refusals: ["not_found"],
  },
  async (context, { key }) =>
    respondDone(
      context,
      await archive.archiveAccount(await actingOf(context), holderId(context), { key }),
    ),
);

export const copyDirectory = endpoint(
  {
    at: "POST /api/admin/directory/copy",
    role: "admin",
    body: directory.copyBody,
    body_is_optional: true,
    refusals: ["not_found"],
  },
  async (context, { body, key }) => {
    const copied = await directory.copyDirectory(await actingOf(context), body, key);
    return respondOnce(context, copied, (portion) => portion);
  },
);

export const rebuildDirectory = endpoint(
  {
    at: "POST /api/admin/directory/rebuild",
    role: "admin",
    body: directory.rebuildBody,
    body_is_optional: true,
    refusals: ["not_found"],
  },
  async (context, { body, key }) => {
    const rebuilt = await directory.rebuildDirectory(await actingOf(context), body, key);
    return respondOnce(context, rebuilt, (portion) => portion);
  },
);

export const listDifferences = endpoint(
  {
    at: "GET /api/admin/differences",
    role: "admin",
    query: differences.differencesQuery,
  },
  async (context, { query }) =>
    context.json(await differences.comparePage(context.get("services"), query)),
);

export const listAccountDifferences = endpoint(
  {
    at: "GET /api/admin/accounts/{identity_id}/differences",
    role: "admin",
    refusals: ["unavailable"],
  },
  async (context) => {
    const compared = await differences.compareOne(context.get("services"), holderId(context));
    return compared.ok ? context.json(compared.value) : refuse(context, compared.refusal);
  },
);

export const planRecovery = endpoint(
  {
    at: "GET /api/admin/accounts/{identity_id}/recovery",
    role: "admin",
    query: recovery.recoveryQuery,
    refusals: ["not_found", "recovery_refused"],
  },
  async (context, { query }) => {
    const services = context.get("services");
    const plan = await recovery.planRecovery(services, holderId(context), query);
    return plan.ok ? context.json(planView(plan.value)) : refuse(context, plan.refusal);
  },
);

export const recoverAccount = endpoint(
  {
    at: "POST /api/admin/accounts/{identity_id}/recovery",
    role: "admin",
    body: recovery.recoveryBody,
    refusals: ["not_found", "recovery_refused"],
  },
  async (context, { body, key }) => {
    const request = { ...body, key };
    const done = await recovery.recoverAccount(await actingOf(context), holderId(context), request);
    return respondOnce(context, done, ({ lost, ...plan }) => ({ ...planView(plan), lost }));
  },
);

export const planLostRestore = endpoint(
  {
    at: "GET /api/admin/accounts/{identity_id}/lost-storage",
    role: "admin",
    refusals: ["not_found"],
  },
  async (context) => {
    const read = await lost_accounts.planLostRestore(context.get("services"), holderId(context));
    if (!read.ok) return refuse(context, read.refusal);
    const { account, head, refusal } = read.value;
    const { id: account_id, line, credits, reserved: held, updated_at_ms } = account;
    const read_model = { line, credits, held, at: timestamp(updated_at_ms) };
    return context.json({ account_id, head, read_model, refusal });
  },
);

export const restoreLost = endpoint(
  {
    at: "POST /api/admin/accounts/{identity_id}/lost-storage",
    role: "admin",
    body: reasonBody,
    refusals: ["not_found", "recovery_refused"],
  },
  async (context, { body, key }) => {
    const request = { ...body, key };
    const acting = await actingOf(context);
    const done = await lost_accounts.restoreLost(acting, holderId(context), request);
    return respondOnce(context, done, ({ now, ...rest }) => ({ now: thenView(now), ...rest }));
  },
);

function planView({ now, target, ...plan }: RecoveryPlan) {
  return { now: thenView(now), target: thenView(target), ...plan };
}

function thenView({ at_ms, ...account }: AccountThen) {
  return { ...account, at: timestamp(at_ms) };
}
