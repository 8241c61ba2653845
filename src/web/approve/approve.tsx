/**
 * `GET /approve/{request}`: the page where the signed-in holder approves or denies one job beyond a cap; its forms are
 * `POST /approve/{request}/approve` and `/deny`. Opening the page decides nothing.
 */
import type { ApprovalRequest } from "../../domain/job_approval.ts";
import { accountOf, callerOf, factory, type AppContext } from "../../http/context.ts";
import { openApproval } from "../../http/api/jobs/approval.ts";
import { buyPath } from "../account/back_to_app.tsx";
import { refuseWithPage } from "../../http/refusal_page.ts";
import { appLooks } from "../layout/app_icon.tsx";
import { ApprovePage, type ApprovePageState } from "./approve_page.tsx";

export const showApproval = factory.createHandlers(async (context) => {
  const opened = await openRequest(context);
  return opened.ok ? showRequest(context, opened.request) : show(context, opened.state);
});

export const approveJob = decision(true);
export const denyJob = decision(false);

/** Decides, and then shows the page, which says what was decided. */
function decision(is_approved: boolean) {
  return factory.createHandlers(async (context) => {
    const opened = await openRequest(context);
    if (!opened.ok) return show(context, opened.state);
    const { request } = opened;
    const decided = await accountOf(context).decideApproval(
      callerOf(context),
      request,
      is_approved,
    );
    return decided.ok
      ? context.redirect(pathOf(context), 303)
      : showRefusal(context, decided.refusal);
  });
}

type Opened =
  | { readonly ok: true; readonly request: ApprovalRequest }
  | { readonly ok: false; readonly state: ApprovePageState };

/** The request in the address, if it is for the account that is signed in. Another account learns nothing of it. */
async function openRequest(context: AppContext): Promise<Opened> {
  const request = await openApproval(context, context.req.param("request") ?? "");
  if (request === null) return { ok: false, state: { kind: "unknown" } };
  const { identity_id } = context.get("session");
  if (request.identity_id !== identity_id) {
    const person = await context.get("services").identity.readPerson(identity_id);
    const signed_in_as = person?.email ?? person?.name ?? null;
    const signin = new URL("/signin", context.get("base_url"));
    const here = new URL(pathOf(context), context.get("base_url"));
    signin.searchParams.set("redirect_to", here.href);
    const signin_path = `${signin.pathname}${signin.search}`;
    return { ok: false, state: { kind: "other_account", signed_in_as, signin_path } };
  }
  if (request.expires_at_ms <= Date.now()) return { ok: false, state: { kind: "expired" } };
  return { ok: true, request };
}

async function showRequest(context: AppContext, request: ApprovalRequest): Promise<Response> {
  const [read, lookOf] = await Promise.all([
    accountOf(context).readApproval(callerOf(context), request),
    appLooks(context),
  ]);
  if (!read.ok) return showRefusal(context, read.refusal);
  const { state } = read.value;
  if (state !== "open") return show(context, { kind: state, request });
  const app = lookOf(request.app_slug);
  const path = pathOf(context);
  const sells = (context.get("services").payments?.packages ?? []).length > 0;
  const buy_path = sells ? buyPath(new URL(path, context.get("base_url"))) : null;
  return show(context, { kind: "ask", path, request, shown: read.value, app, buy_path });
}

function showRefusal(
  context: AppContext,
  refusal: Parameters<typeof refuseWithPage>[1],
): Response | Promise<Response> {
  if (refusal.code === "personal_token_not_found") return show(context, { kind: "token_ended" });
  if (refusal.code === "approval_ended") return show(context, { kind: "expired" });
  return refuseWithPage(context, refusal);
}

const STATUS = { unknown: 404, other_account: 403, expired: 410, token_ended: 410 } as const;

function show(context: AppContext, state: ApprovePageState): Response | Promise<Response> {
  const status = state.kind in STATUS ? STATUS[state.kind as keyof typeof STATUS] : 200;
  return context.html(<ApprovePage state={state} />, status);
}

function pathOf(context: AppContext): string {
  return `/approve/${context.req.param("request")}`;
}
