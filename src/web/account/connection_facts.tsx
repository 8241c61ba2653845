/** The facts of an allowance as texts, for its holder and for operators. */
import type { ListedAllowance, ListedCap } from "../../account/contract.ts";
import { maySpend } from "../../domain/allowance.ts";
import { CHARGE_SCOPE } from "../../domain/oauth_scopes.ts";
import { PERIOD_NAMES } from "../allowance/cap_choice.tsx";
import { rich, say, t } from "../language/text.tsx";
import { number } from "../layout/labels.ts";
import { currentShell } from "../layout/shell.ts";
import { Time } from "../layout/time.tsx";

/** An allowance and how deep it is below the one that the holder approved. */
interface NestedAllowance<Listed> {
  readonly allowance: Listed;
  readonly depth: number;
}

/** Each allowance followed by those that were exchanged from it. One whose parent is not listed stands by itself. */
export function nestAllowances<Listed extends ListedAllowance>(
  listed: readonly Listed[],
): readonly NestedAllowance<Listed>[] {
  const ids = new Set(listed.map(({ id }) => id));
  const below = (allowance: Listed, depth: number): readonly NestedAllowance<Listed>[] => [
    { allowance, depth },
    ...listed
      .filter(({ parent_id }) => parent_id === allowance.id)
      .flatMap((child) => below(child, depth + 1)),
  ];
  return listed
    .filter(({ parent_id }) => parent_id === null || !ids.has(parent_id))
    .flatMap((root) => below(root, 0));
}

/** The program that has an allowance: "App of claude.ai". */
export function holderOf({
  kind,
  client_id,
  client_host,
}: Pick<ListedAllowance, "kind" | "client_id" | "client_host">): string {
  if (kind === "exchange") return t("Agent or service, with a part of the access above it");
  if (kind === "device" || client_id === null) return t("Device or program");
  if (client_host === null) return t("Registered app");
  const { host, service_name } = currentShell();
  return client_host === host
    ? t("Part of {service_name}", { service_name })
    : t("App of {host}, not registered here", { host: client_host });
}

/** The rights of an allowance, as sentences. Its caps are listed separately. */
export function describeRights(
  { limits, resource, scopes }: ListedAllowance,
  appName: (slug: string) => string,
): string {
  const { access, upstream, admin, app_slugs } = limits;
  const where =
    app_slugs === null
      ? t("in all apps")
      : t("in {apps}", { apps: app_slugs.map(appName).join(", ") });
  const what = {
    none: "",
    read: t("Can read {where}.", { where }),
    write: t("Can read and spend {where}.", { where }),
  };
  const signs_in = scopes.includes("openid") ? t("Signs you in.") : "";
  const sentences = [
    access === "none" && !admin && signs_in === "" && resource === null
      ? t("Has no access to your account.")
      : what[access],
    resource === null ? "" : t("Can use {resource} as you.", { resource }),
    scopes.includes(CHARGE_SCOPE) ? t("Each use can cost you credits, {where}.", { where }) : "",
    signs_in,
    upstream ? t("Can also get your access tokens for other services.") : "",
    admin ? t("Can operate the service, as long as you are an operator.") : "",
  ];
  return sentences.filter((sentence) => sentence !== "").join(" ");
}

/** The caps of an allowance that can spend, each with what is spent of it and when it begins again. */
export function CapList({ allowance }: { allowance: ListedAllowance }) {
  const { caps } = allowance;
  // An allowance that cannot spend has no use for its caps.
  if (!maySpend(allowance.scopes)) return null;
  if (caps.length === 0) return <p class="hint">{t("No limit but your balance.")}</p>;
  return (
    <ul class="caps">
      {caps.map((cap) => (
        <li>
          <CapMeter cap={cap} />
        </li>
      ))}
    </ul>
  );
}

function CapMeter({ cap }: { cap: ListedCap }) {
  const { credits, period, spent, approved, resets_at_ms } = cap;
  return (
    <>
      <meter
        min={0}
        low={0.8 * credits}
        high={0.999 * credits}
        optimum={0}
        max={Math.max(1, credits)}
        value={Math.min(spent, credits)}
        aria-hidden="true"
      />
      <span>
        {t("{spent} of {credits} credits {period} spent", {
          spent: number(spent),
          credits: number(credits),
          period: say(PERIOD_NAMES[period]),
        })}
        {approved === 0
          ? ""
          : `, ${t("{count} of them in jobs that you approved", { count: number(approved) })}`}
        {resets_at_ms === null ? (
          ""
        ) : (
          <>, {rich("resets {time}", { time: <Time at_ms={resets_at_ms} style="clock" /> })}</>
        )}
        {spent < credits ? "" : `. ${t("Used up: it starts no job without a new approval.")}`}
      </span>
    </>
  );
}

/** When an allowance was made and last used, and when it ends. */
export function AllowanceTimes({ allowance }: { allowance: ListedAllowance }) {
  const { created_at_ms, last_used_at_ms, expires_at_ms, ends_with_session } = allowance;
  const facts = {
    made: <Time at_ms={created_at_ms} style="day" />,
    used:
      last_used_at_ms === null
        ? t("never used")
        : rich("last used {time}", { time: <Time at_ms={last_used_at_ms} style="day" /> }),
    end: <Time at_ms={expires_at_ms} style="day" />,
  };
  return ends_with_session
    ? rich("Made {made}, {used}, ends {end}, or when the sign-in that approved it ends.", facts)
    : rich("Made {made}, {used}, ends {end}.", facts);
}
