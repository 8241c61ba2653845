/** `GET …/resources`, `GET …/resources/{id}` and `DELETE …/resources/{id}` of an app. */
import * as z from "zod/mini";
import type { OnceAnswer } from "../../../../account/contract.ts";
import { factory, type AppContext } from "../../../context.ts";
import { refuse } from "../../../refusals.ts";
import { idempotencyKey, validQuery } from "../../../validation.ts";
import { respondDone } from "../../../views.ts";
import { performActionOnce, reason as reasonText } from "../audited_action.ts";
import { registrationKeyOf, type RegistrationKey } from "../clients/save.ts";
import { resourceView } from "./save.ts";

export const removeResourceQuery = z.object({ reason: z.optional(reasonText) });

export function removeResource(
  context: AppContext,
  resource_key: RegistrationKey,
  { reason }: z.output<typeof removeResourceQuery>,
  key: string | undefined,
): Promise<OnceAnswer<null>> {
  const action = {
    act: "resource.delete",
    subject: resource_key.app_slug,
    reason: reason ?? null,
    details: { resource: resource_key.id },
    key,
  };
  const { oauth_records } = context.get("services");
  return performActionOnce(context, action, () => oauth_records.removeResource(resource_key));
}

export const listResources = factory.createHandlers(async (context) => {
  const { oauth_records } = context.get("services");
  const listed = await oauth_records.listResources(context.req.param("slug") ?? "");
  if (!listed.ok) return refuse(context, listed.refusal);
  return context.json({ resources: listed.value.map(resourceView) });
});

export const getResource = factory.createHandlers(async (context) => {
  const { oauth_records } = context.get("services");
  const resource = await oauth_records.findResource(registrationKeyOf(context));
  if (resource === null) return refuse(context, { code: "resource_not_found" });
  return context.json({ resource: resourceView(resource) });
});

export const deleteResource = factory.createHandlers(
  validQuery(removeResourceQuery),
  async (context) => {
    const query = context.req.valid("query");
    const key = idempotencyKey(context);
    const removed = await removeResource(context, registrationKeyOf(context), query, key);
    return respondDone(context, removed);
  },
);
