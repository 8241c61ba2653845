/** The way back from the pages that sell credits: `return_to`, and the OAuth client `client` whose address it may be. */
import type { Refusal } from "../../domain/refusals.ts";
import { accepted, type Result } from "../../domain/result.ts";
import { accountOf, callerOf, type AppContext } from "../../http/context.ts";
import { approvalReturn, readReturnTo } from "../../http/allowances/return_to.ts";
import { backLink, type BackLink } from "../layout/back_link.tsx";

/** The way back, and the fields that keep it on the next page. */
export interface PurchaseReturn extends BackLink {
  readonly fields: Readonly<Record<string, string>>;
}

interface SentReturn {
  readonly return_to: string | undefined;
  readonly client: string | undefined;
}

/** Null: the person came from nowhere. Refused if the address is not allowed. */
export async function readPurchaseReturn(
  context: AppContext,
  { return_to = "", client = "" }: SentReturn,
): Promise<Result<PurchaseReturn | null, Refusal>> {
  if (return_to === "") return accepted(null);
  const approval = approvalReturn(context, return_to);
  if (approval !== null) {
    const { href } = approval;
    return accepted({ href, name: "the approval", fields: { return_to: href } });
  }
  const client_id = client !== "" && (await isConnected(context, client)) ? client : null;
  const read = await readReturnTo(context, return_to, { app_slug: null, client_id });
  if (!read.ok) return read;
  const link = backLink(read.value, "the app");
  const fields = { return_to: link.href, ...(client_id !== null && { client: client_id }) };
  return accepted({ ...link, fields });
}

/** Whether the person connected a client. Another client's addresses are not allowed. */
async function isConnected(context: AppContext, client_id: string): Promise<boolean> {
  const listed = await accountOf(context).listAllowances(callerOf(context));
  return listed.ok && listed.value.some((one) => one.client_id === client_id);
}

/** Where credits are for sale, with the way back. */
export function buyPath(back: Pick<PurchaseReturn, "fields"> | null): string {
  return back === null
    ? "/account#buy"
    : `/account?${new URLSearchParams(back.fields).toString()}#buy`;
}
