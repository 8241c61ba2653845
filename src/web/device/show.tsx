/** `GET /device[?user_code=]`: where a person compares a code with their device, and decides. */
import type { LoginRequest } from "../../device/contract.ts";
import { readUserCode } from "../../domain/device_login.ts";
import type { RefusalCode } from "../../domain/refusal_codes.ts";
import type { Refusal } from "../../domain/refusals.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import { DevicePage, type DevicePageState, type LoginFacts } from "./device_page.tsx";
import type { ApprovalChoices, ApprovalProblems } from "./choices.tsx";
import { factory, type AppContext } from "../../http/context.ts";
import { countAttempt } from "../../http/middleware/rate_limits.ts";
import { describeRefusal, refuse } from "../../http/refusals.ts";
import { hasOperatorRights } from "../../http/caller/operator.ts";
import { suggestedChoices } from "./approval_form.ts";
import { locationName, locationOf } from "../../domain/client_description.ts";

export const showDevice = factory.createHandlers(async (context) => {
  const typed_code = (context.req.query("user_code") ?? "").trim();
  const entering = <DevicePage state={{ kind: "enter", typed_code }} />;
  if (typed_code === "") return context.html(entering);
  // A picture or frame of another site must not open codes for a person.
  const destination = context.req.header("Sec-Fetch-Dest") ?? "document";
  if (destination !== "document") return refuse(context, { code: "origin_not_allowed" });
  if (!isOwnNavigation(context)) return context.html(entering);
  const limited = await countAttempt(context);
  if (limited !== null)
    return answerRefusal(context, limited, typed_code, [["user_code", typed_code]]);
  const opened = await openLogin(context, typed_code);
  if (!opened.ok) return answerRefusal(context, opened.refusal, typed_code);
  const { app_slug, app_name } = opened.value;
  const choices = suggestedChoices(app_slug, app_name !== null);
  const state = { kind: "confirm", facts: opened.value, choices, problems: {} } as const;
  return context.html(<DevicePage state={state} />);
});

/**
 * Whether the person came here by themselves: by our own page, by typing the address, or from a program.
 * Another site can send them as often as it likes; that counts against nobody and opens nothing, it only
 * fills in the code. Browsers of before 2023 do not say.
 */
function isOwnNavigation(context: AppContext): boolean {
  return ["none", "same-origin"].includes(context.req.header("Sec-Fetch-Site") ?? "none");
}

/** Opens a login for the caller, which makes it theirs to decide. */
export async function openLogin(
  context: AppContext,
  typed_code: string,
): Promise<Result<LoginFacts, Refusal>> {
  const user_code = readUserCode(typed_code);
  if (user_code === null) return refused({ code: "user_code_invalid" });
  const { device_logins, identity, request_copies } = context.get("services");
  const copy = await request_copies.recall(user_code);
  const { identity_id } = context.get("caller");
  const answer = await device_logins(user_code).open(identity_id, copy?.started_at_ms ?? null);
  if (!answer.ok) return answer;
  const request: LoginRequest | null = answer.value.request ?? copy;
  if (request === null) throw new Error("an opened login says what it asks, or confirms a copy");
  const person = await identity.readPerson(identity_id);
  const approver = person?.email ?? person?.name ?? null;
  const may_operate = await hasOperatorRights(context, identity_id);
  return accepted({ ...(await factsOf(context, user_code, request)), approver, may_operate });
}

/** What the page says of a login: an app's name where it is registered, the place in words. */
async function factsOf(
  context: AppContext,
  user_code: string,
  { asker, started_at_ms }: LoginRequest,
): Promise<Omit<LoginFacts, "approver" | "may_operate">> {
  const { apps, config, identity } = context.get("services");
  const { app_slug, country } = asker;
  const { country: here } = locationOf(context.req.raw);
  const registered = await apps.all();
  return {
    user_code,
    client_name: asker.client_name,
    app_slug,
    app_name: app_slug === null ? null : (registered.get(app_slug)?.name ?? null),
    known_apps: [...registered.values()].map(({ slug, name }) => ({ slug, name })),
    upstream_names: identity.sign_in_methods.map(({ name }) => name),
    program: asker.program,
    place: locationName(asker),
    another_country: country !== null && here !== null && country !== here,
    started_at: new Date(started_at_ms),
    age_minutes: Math.max(0, Math.floor((Date.now() - started_at_ms) / 60_000)),
    token_days: config.pat_ttl_days,
  };
}

/** Shows the login again, every choice as it was, with what is wrong beside its field. */
export function showProblems(
  context: AppContext,
  facts: LoginFacts,
  choices: ApprovalChoices,
  problems: ApprovalProblems,
): Response | Promise<Response> {
  return context.html(<DevicePage state={{ kind: "confirm", facts, choices, problems }} />, 400);
}

/**
 * A refusal as a page, with the status that the API gives it. `typed_code` stays for correction;
 * `fields` are those of a form that may be sent again as it is.
 */
export function answerRefusal(
  context: AppContext,
  refusal: Refusal,
  typed_code: string,
  fields: readonly (readonly [string, string])[] | null = null,
): Response | Promise<Response> {
  const { status, headers } = describeRefusal(refusal);
  const state = stateOf(context, refusal, typed_code, fields);
  return context.html(<DevicePage state={state} />, status, headers);
}

/** Endings that have a page of their own. */
const ENDINGS: Partial<Record<RefusalCode, DevicePageState>> = {
  expired_token: { kind: "expired" },
  already_used: { kind: "used" },
  access_denied: { kind: "was_denied" },
};

/** The page of a refusal; the rest are told in the API's words. */
function stateOf(
  context: AppContext,
  refusal: Refusal,
  typed_code: string,
  fields: readonly (readonly [string, string])[] | null,
): DevicePageState {
  if (refusal.code === "user_code_invalid") return { kind: "unknown", typed_code };
  if (refusal.code === "rate_limited") {
    const { method, path } = context.req;
    const again = fields === null ? null : { method, path, fields };
    return { kind: "too_many_attempts", seconds: refusal.rule.window_seconds, again };
  }
  const told = { kind: "refused", problem: describeRefusal(refusal).error } as const;
  return ENDINGS[refusal.code] ?? told;
}
