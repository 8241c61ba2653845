/**
 * `GET /approve/{approval}`: the page where the signed-in holder approves or denies one job beyond a cap; its forms are
 * `POST /approve/{approval}/approve` and `/deny`. Opening the page decides nothing. `return_to` in the query is where all of
 * them lead back to.
 */
import type { ShownApproval } from "../../account/contract.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import { accountOf, callerOf, factory, type AppContext } from "../../http/context.ts";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { readReturnTo } from "../../http/allowances/return_to.ts";
import { buyPath } from "../account/purchase_return.ts";
import { appLooks, type AppLook } from "../layout/app_icon.tsx";
import { verbatim } from "../language/text.tsx";
import { backLink, withResult, type BackLink } from "../layout/back_link.tsx";
import { ApprovePage, type ApprovePageState } from "./approve_page.tsx";

export const showApproval = factory.createHandlers(async (context) => {
  const opened = await openApproval(context);
  if (!opened.ok) return showRefusal(context, opened.refusal);
  const { shown, app, back } = opened.value;
  const { state, expires_at_ms } = shown.request;
  const path = pathOf(context, "");
  if (state !== "open") return show(context, { kind: state, request: shown.request, back });
  if (expires_at_ms <= Date.now()) return show(context, { kind: "expired", back });
  const sells = (context.get("services").payments?.packages ?? []).length > 0;
  const here = { return_to: new URL(path, context.get("base_url")).href };
  const buy_path = sells ? buyPath({ fields: here }) : null;
  const paths = { approve: pathOf(context, "/approve"), deny: pathOf(context, "/deny") };
  return show(context, { kind: "ask", paths, shown, app, buy_path, back });
});

export const approveJob = decision(true);
export const denyJob = decision(false);

/** Decides, and then leads back, or shows the page, which says what was decided. */
function decision(is_approved: boolean) {
  return factory.createHandlers(async (context) => {
    const opened = await openApproval(context);
    if (!opened.ok) return showRefusal(context, opened.refusal);
    const { back } = opened.value;
    const decided = await accountOf(context).decideApproval(
      callerOf(context),
      approvalOf(context),
      is_approved,
    );
    if (!decided.ok) return showRefusal(context, decided.refusal, back);
    const is_done = decided.value === (is_approved ? "approved" : "denied");
    const address = back !== null && is_done ? withResult(back, decided.value) : null;
    return context.redirect(address ?? pathOf(context, ""), 303);
  });
}

interface Opened {
  readonly shown: ShownApproval;
  readonly app: AppLook;
  /** Null: the link names no way back. */
  readonly back: BackLink | null;
}

/**
 * The request in the address, from the account that is signed in: to another account it does not exist. Refused also if it would
 * lead back to an address that belongs neither to the job's app nor to the client.
 */
async function openApproval(context: AppContext): Promise<Result<Opened, Refusal>> {
  const [read, lookOf] = await Promise.all([
    accountOf(context).readApproval(callerOf(context), approvalOf(context)),
    appLooks(context),
  ]);
  if (!read.ok) return read;
  const shown = read.value;
  const { app_slug } = shown.request;
  const app = lookOf(app_slug);
  const return_to = context.req.query("return_to") ?? "";
  if (return_to === "") return accepted({ shown, app, back: null });
  const { client_id } = shown;
  const url = await readReturnTo(context, return_to, { app_slug, client_id });
  if (!url.ok) return refused(url.refusal);
  return accepted({ shown, app, back: backLink(url.value, verbatim(shown.label)) });
}

async function showRefusal(
  context: AppContext,
  refusal: Refusal,
  back: BackLink | null = null,
): Promise<Response> {
  if (refusal.code === "approval_invalid") return showUnknown(context);
  if (refusal.code === "personal_token_not_found") return show(context, { kind: "token_ended" });
  if (refusal.code === "approval_ended") return show(context, { kind: "expired", back });
  return refuseWithPage(context, refusal);
}

/** The account has no such request. Whether another one has it, nobody learns here. */
async function showUnknown(context: AppContext): Promise<Response> {
  const { identity_id } = context.get("session");
  const person = await context.get("services").identity.readPerson(identity_id);
  const signed_in_as = person?.email ?? person?.name ?? null;
  const signin = new URL("/signin", context.get("base_url"));
  const here = new URL(pathOf(context, ""), context.get("base_url"));
  signin.searchParams.set("redirect_to", here.href);
  const signin_path = `${signin.pathname}${signin.search}`;
  return show(context, { kind: "other_account", signed_in_as, signin_path });
}

const STATUS = { other_account: 404, expired: 410, token_ended: 410 } as const;

function show(context: AppContext, state: ApprovePageState): Response | Promise<Response> {
  const status = state.kind in STATUS ? STATUS[state.kind as keyof typeof STATUS] : 200;
  return context.html(<ApprovePage state={state} />, status);
}

function approvalOf(context: AppContext): string {
  return context.req.param("approval") ?? "";
}

/** The path of this page, or of one of its forms, with its way back. */
function pathOf(context: AppContext, rest: string): string {
  const return_to = context.req.query("return_to") ?? "";
  const query = return_to === "" ? "" : `?${new URLSearchParams({ return_to }).toString()}`;
  return `/approve/${encodeURIComponent(approvalOf(context))}${rest}${query}`;
}
