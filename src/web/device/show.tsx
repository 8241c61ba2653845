/** `GET /device[?user_code=]`: the page where a person compares a code with their device and decides. */
import { locationOf } from "../../domain/client_description.ts";
import type { LoginRequest } from "../../device/device_contract.ts";
import { readUserCode } from "../../domain/device_login.ts";
import type { RefusalCode } from "../../domain/refusal_codes.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import { DevicePage, type DevicePageState, type LoginFacts } from "./device_page.tsx";
import type { ApprovalChoices, ApprovalProblems, Offered } from "../allowance/choices.tsx";
import { verbatim } from "../language/text.tsx";
import { readOffered } from "../allowance/offered.ts";
import { accountOf, callerOf, factory, type AppContext } from "../../http/context.ts";
import { countAttempt } from "../../http/middleware/rate_limits.ts";
import { describeRefusal, refuse } from "../../http/refusals.ts";
import { suggestedChoices } from "../allowance/approval_form.ts";

export const showDevice = factory.createHandlers(async (context) => {
  const typed_code = (context.req.query("user_code") ?? "").trim();
  const entering = <DevicePage state={{ kind: "enter", typed_code }} />;
  if (typed_code === "") return context.html(entering);
  // An image or a frame on another site must not open a code for the person.
  const destination = context.req.header("Sec-Fetch-Dest") ?? "document";
  if (destination !== "document") return refuse(context, { code: "origin_not_allowed" });
  if (!isOwnNavigation(context)) return context.html(entering);
  const limited = await countAttempt(context);
  if (limited !== null)
    return respondWithRefusal(context, limited, typed_code, [["user_code", typed_code]]);
  const opened = await openLogin(context, typed_code);
  if (!opened.ok) return respondWithRefusal(context, opened.refusal, typed_code);
  const { app_slug, app, credits, reads_only } = opened.value;
  const suggested = suggestedChoices(app_slug, app, credits);
  const choices = reads_only ? { ...suggested, access: "read" as const } : suggested;
  const state = { kind: "confirm", facts: opened.value, choices, problems: {} } as const;
  return context.html(<DevicePage state={state} />);
});

/**
 * Whether the person came from our own page, typed the address, or came from a program. A link on another site
 * only fills in the code: it opens nothing and does not count as an attempt. Browsers from before 2023 do not
 * send the header.
 */
function isOwnNavigation(context: AppContext): boolean {
  return ["none", "same-origin"].includes(context.req.header("Sec-Fetch-Site") ?? "none");
}

/** Opens a login: from then on, only this person can decide it. */
export async function openLogin(
  context: AppContext,
  typed_code: string,
): Promise<Result<LoginFacts, Refusal>> {
  const user_code = readUserCode(typed_code);
  if (user_code === null) return refused({ code: "user_code_invalid" });
  const { device_logins, identity, request_copies } = context.get("services");
  const copy = await request_copies.recall(user_code);
  const { identity_id } = context.get("caller");
  const opened = await device_logins(user_code).open(identity_id, copy?.started_at_ms ?? null);
  if (!opened.ok) return opened;
  const request: LoginRequest | null = opened.value.request ?? copy;
  if (request === null)
    throw new Error("an opened login has neither a request nor a confirmed copy");
  const wallet = await accountOf(context).wallet(callerOf(context), { app: null });
  if (!wallet.ok) return wallet;
  const { credits } = wallet.value.account;
  const person = await identity.readPerson(identity_id);
  const approver = person?.email ?? person?.name ?? null;
  const offered = await readOffered(context);
  const facts = await factsOf(context, user_code, request);
  return accepted({ ...facts, approver, credits, ...offered });
}

/** The facts of a login that the page shows. */
async function factsOf(
  context: AppContext,
  user_code: string,
  { device_client, started_at_ms }: LoginRequest,
): Promise<Omit<LoginFacts, "approver" | "credits" | keyof Offered>> {
  const { apps, config } = context.get("services");
  const { app_slug, country } = device_client;
  const { country: approver_country } = locationOf(context.req.raw);
  const registered = await apps.all();
  return {
    user_code,
    client_name: device_client.client_name,
    app_slug,
    app: app_slug === null ? null : (registered.get(app_slug) ?? null),
    program: device_client.program,
    reads_only: device_client.reads_only === true,
    location: device_client,
    another_country: country !== null && approver_country !== null && country !== approver_country,
    started_at: new Date(started_at_ms),
    age_minutes: Math.max(0, Math.floor((Date.now() - started_at_ms) / 60_000)),
    token_days: config.pat_ttl_days,
  };
}

/** Shows the form again with its values and the problem of each field. */
export function showProblems(
  context: AppContext,
  facts: LoginFacts,
  choices: ApprovalChoices,
  problems: ApprovalProblems,
): Response | Promise<Response> {
  return context.html(<DevicePage state={{ kind: "confirm", facts, choices, problems }} />, 400);
}

/**
 * Shows a refusal as a page, with the API's status. `typed_code` is kept so that it can be corrected; `fields`
 * is a form that can be sent again unchanged.
 */
export function respondWithRefusal(
  context: AppContext,
  refusal: Refusal,
  typed_code: string,
  fields: readonly (readonly [string, string])[] | null = null,
): Response | Promise<Response> {
  context.set("refusal_code", refusal.code);
  const { status, headers } = describeRefusal(refusal);
  const state = stateOf(context, refusal, typed_code, fields);
  return context.html(<DevicePage state={state} />, status, headers);
}

/** Refusals with their own page. */
const REFUSAL_PAGES: Partial<Record<RefusalCode, DevicePageState>> = {
  expired_token: { kind: "expired" },
  already_used: { kind: "used" },
  access_denied: { kind: "was_denied" },
};

/** The page of a refusal. Refusals without their own page show the API's sentence. */
function stateOf(
  context: AppContext,
  refusal: Refusal,
  typed_code: string,
  fields: readonly (readonly [string, string])[] | null,
): DevicePageState {
  if (refusal.code === "user_code_invalid") return { kind: "unknown", typed_code };
  if (refusal.code === "rate_limited") {
    const { method, path } = context.req;
    const retry_form = fields === null ? null : { method, path, fields };
    return { kind: "too_many_attempts", seconds: refusal.rule.window_seconds, retry_form };
  }
  const problem = verbatim(describeRefusal(refusal).error);
  return REFUSAL_PAGES[refusal.code] ?? { kind: "refused", problem };
}
