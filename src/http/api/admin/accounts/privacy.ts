/**
 * Privacy requests: `GET /api/admin/accounts/{identity_id}/export` returns everything that is stored about a person, and
 * `DELETE /api/admin/accounts/{identity_id}` deletes their account.
 */
import { accepted } from "../../../../domain/result.ts";
import * as privacy from "../../../../operator/account_privacy.ts";
import { reasonQuery } from "../../../../operator/audited_action.ts";
import { actingOf } from "../../../caller/acting.ts";
import { findHolder } from "../../../caller/holder.ts";
import type { AppContext } from "../../../context.ts";
import { endpoint } from "../../endpoint.ts";
import { respondWithExport } from "../../../person_data.ts";
import { refuseByAccept } from "../../../refusal_page.ts";
import { refuse } from "../../../refusals.ts";
import { respondDone } from "../../../views.ts";

export const exportAccount = endpoint(
  {
    at: "GET /api/admin/accounts/{identity_id}/export",
    role: "viewer",
    // It adds an audit record.
    rate: "writes",
    key: "accepted",
    query: reasonQuery,
  },
  async (context, { query, key }) => {
    const exported = await respondWithExport(context, { ...query, key });
    return exported.ok ? exported.value.value : refuse(context, exported.refusal);
  },
);

export const deleteAccount = endpoint(
  {
    at: "DELETE /api/admin/accounts/{identity_id}",
    role: "admin",
    finds_holder: true,
    body: privacy.deletionBody,
  },
  async (context, { params, body: { confirm, reason }, key }) => {
    if (await wasDeleted(context, params.identity_id)) {
      return respondDone(context, accepted({ value: null, replayed: true }));
    }
    const holder = await findHolder(context);
    if (!holder.ok) return refuseByAccept(context, holder.refusal);
    const { identity_id } = holder.value;
    if (confirm !== identity_id) {
      const detail = `confirm must be the identity_id of the account to delete, ${identity_id}. Nothing was deleted.`;
      return refuse(context, { code: "invalid_request", detail });
    }
    const acting = await actingOf(context);
    return respondDone(context, await privacy.deleteAccount(acting, identity_id, { reason, key }));
  },
);

/** A retry finds no person any more. While the deletion is recorded, it gets the response of the first request. */
async function wasDeleted(context: AppContext, identity_id: string): Promise<boolean> {
  const { account_deletion, identity } = context.get("services");
  return (
    (await account_deletion.isRecorded(identity_id)) &&
    (await identity.readPerson(identity_id)) === null
  );
}
