/** `GET /device[?user_code=]`: where a person compares a code with their device, and decides. */
import type { AskedLogin } from "../../device/contract.ts";
import { readUserCode, showUserCode } from "../../domain/device_login.ts";
import type { Refusal, RefusalCode } from "../../domain/refusals.ts";
import { accepted, refused, type Result } from "../../domain/result.ts";
import { DevicePage, type ConfirmProps, type DevicePageState } from "../../pages/device.tsx";
import { factory, type AppContext } from "../context.ts";
import { describeRefusal, refuse } from "../refusals.ts";
import { countryOf } from "./asker.ts";
import { countAttempt } from "./limits.ts";

export const showDevice = factory.createHandlers(async (context) => {
  const typed_code = context.req.query("user_code") ?? "";
  if (typed_code.trim() === "") return context.html(<DevicePage state={{ kind: "enter" }} />);
  // A picture or frame of another site must not use up a person's attempts, or open codes for them.
  const destination = context.req.header("Sec-Fetch-Dest") ?? "document";
  if (destination !== "document") return refuse(context, { code: "origin_not_allowed" });
  const limited = await countAttempt(context);
  if (limited !== null) return answerRefusal(context, limited);
  const opened = await openLogin(context, typed_code);
  if (!opened.ok) return answerRefusal(context, opened.refusal);
  return context.html(<DevicePage state={{ kind: "confirm", ...opened.value }} />);
});

/** Opens a login for the caller, which makes it theirs to decide. */
async function openLogin(
  context: AppContext,
  typed_code: string,
): Promise<Result<ConfirmProps, Refusal>> {
  const user_code = readUserCode(typed_code);
  if (user_code === null) return refused({ code: "user_code_invalid" });
  const { asked_codes, device_logins } = context.get("services");
  const copy = await asked_codes.recall(user_code);
  const { identity_id } = context.get("principal");
  const answer = await device_logins(user_code).open(identity_id, copy?.started_at_ms ?? null);
  if (!answer.ok) return answer;
  const asked: AskedLogin | null = answer.value.asked ?? copy;
  if (asked === null) throw new Error("an opened login says what it asks, or confirms a copy");
  const person = await context.get("services").identity.readPerson(identity_id);
  const approver = person?.email ?? person?.name ?? null;
  return accepted({ ...(await confirmation(context, user_code, asked)), approver });
}

/** What the page says of a login: an app's name where it is registered, the place in words. */
async function confirmation(
  context: AppContext,
  user_code: string,
  { asker, started_at_ms }: AskedLogin,
): Promise<Omit<ConfirmProps, "approver">> {
  const { apps, config } = context.get("services");
  const { app_slug, city, country } = asker;
  const here = countryOf(context);
  return {
    user_code: showUserCode(user_code),
    client_name: asker.client_name,
    app_slug,
    app_name: app_slug === null ? null : ((await apps.all()).get(app_slug)?.name ?? null),
    program: asker.program,
    place:
      [city, country === null ? null : countryName(country)].filter(Boolean).join(", ") || null,
    another_country: country !== null && here !== null && country !== here,
    started_at: new Date(started_at_ms),
    age_minutes: Math.max(0, Math.floor((Date.now() - started_at_ms) / 60_000)),
    token_days: config.pat_ttl_days,
    problem: null,
  };
}

/** Cloudflare's own code for Tor is no country. */
function countryName(country: string): string {
  if (country === "T1") return "the Tor network";
  try {
    return new Intl.DisplayNames(["en"], { type: "region" }).of(country) ?? country;
  } catch {
    return country;
  }
}

/** Shows the login again with what is wrong with the limits that the approver chose. */
export async function answerProblem(
  context: AppContext,
  typed_code: string,
  problem: string,
): Promise<Response> {
  const opened = await openLogin(context, typed_code);
  if (!opened.ok) return answerRefusal(context, opened.refusal);
  return context.html(<DevicePage state={{ kind: "confirm", ...opened.value, problem }} />, 400);
}

/** A refusal as a page, with the status that the API gives it. */
export function answerRefusal(context: AppContext, refusal: Refusal): Response | Promise<Response> {
  const { status, headers } = describeRefusal(refusal);
  return context.html(<DevicePage state={pageOf(refusal)} />, status, headers);
}

/** Refusals that have a page of their own; the rest are told in the API's words. */
const PAGES: Partial<Record<RefusalCode, DevicePageState>> = {
  user_code_invalid: { kind: "unknown" },
  expired_token: { kind: "expired" },
  already_used: { kind: "used" },
  access_denied: { kind: "was_denied" },
  rate_limited: { kind: "too_many_attempts" },
};

function pageOf(refusal: Refusal): DevicePageState {
  return PAGES[refusal.code] ?? { kind: "refused", problem: describeRefusal(refusal).error };
}
