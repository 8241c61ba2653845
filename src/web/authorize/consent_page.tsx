/** The page on which a person decides what an OAuth client may do. */
import type { Connection } from "../../account/contract.ts";
import type { ConsentStep } from "../../domain/consent.ts";
import type { SpendingCap } from "../../domain/spending_cap.ts";
import type { OAuthClient } from "../../domain/oauth_client.ts";
import { CapChoice, capsSentence, PERIOD_NAMES } from "../device/cap_choice.tsx";
import {
  AppsChoice,
  Summary,
  UpstreamChoice,
  type ApprovalProblems,
  type LimitChoices,
  type RegisteredApp,
} from "../device/choices.tsx";
import { describedBy, FieldProblem } from "../device/fields.tsx";
import { counted, number } from "../layout/labels.ts";
import { Page } from "../layout/layout.tsx";
import { currentShell } from "../layout/shell.ts";
import { rightsInWords } from "./rights.ts";

/** `asked`: the lifetime that the client asks for, to the second. */
export type Lifetime = number | "asked";

export interface ConsentChoices extends LimitChoices {
  /** When the access ends, in days, or as the client asks; null: nothing valid was chosen. */
  readonly days: Lifetime | null;
}

export interface ConsentPageProps {
  readonly step: Extract<ConsentStep, { kind: "ask" | "ask_more" }>;
  readonly client: OAuthClient;
  /** Where the person returns to: a host, or null for a program on their own machine. */
  readonly return_host: string | null;
  /** Whether only the client itself can use the code; otherwise any program of the device can pretend to be it. */
  readonly is_assured: boolean;
  /** The e-mail address or name of the person; null if neither is known. */
  readonly person: string | null;
  readonly scopes: readonly string[];
  /** What it has so far; null: it is not connected. */
  readonly connection: Pick<Connection, "scopes" | "caps"> | null;
  /** The server that its tokens are for; null: our API. */
  readonly resource: { readonly host: string; readonly app_name: string } | null;
  /** Whether the access ends with the browser session. */
  readonly ends_with_session: boolean;
  /** The available credits. */
  readonly credits: number;
  readonly choices: ConsentChoices;
  /** The limits that the client asks for, if they are higher than the suggested one. */
  readonly wished_caps: readonly SpendingCap[];
  /** The lifetime that the client asks for, if it is shorter than the suggested one; null: it asks for none. */
  readonly asked_seconds: number | null;
  readonly problems: ApprovalProblems;
  readonly registered_apps: readonly RegisteredApp[];
  /** The services whose tokens the client requests; empty: it requests none. */
  readonly upstream_names: readonly string[];
  readonly lifetimes_days: readonly number[];
  /** The sealed request, which the form returns. */
  readonly sealed: string;
  /** The address of this page. */
  readonly this_page: string;
  /** Why the page is shown again; null: it is shown for the first time. */
  readonly notice: string | null;
}

export function ConsentPage(props: ConsentPageProps) {
  const { step, client, problems, notice, is_assured, scopes, sealed } = props;
  const has_problems = Object.keys(problems).length > 0;
  const title = step.kind === "ask" ? `Connect ${client.name}?` : `Let ${client.name} do more?`;
  const spends = scopes.includes("write");
  const has_access = spends || scopes.includes("read");
  const { apps, days } = problems;
  return (
    <Page title={has_problems ? `Error: ${title}` : title} scripts={["forms.js"]}>
      {notice === null ? null : (
        <p class="notice" role="status">
          {notice}
        </p>
      )}
      <Summary problems={problems} />
      <h1>{title}</h1>
      {spends && !has_problems ? <MoneySentence {...props} /> : null}
      <Asker {...props} />
      <Rights {...props} />
      {is_assured ? null : <DeviceWarning name={client.name} />}
      <form method="post" action="/oauth/authorize/allow" autocomplete="off">
        <input type="hidden" name="request" value={sealed} />
        {spends ? (
          <CapChoice
            {...props.choices}
            problem={problems.credits}
            balance={props.credits}
            wished={props.wished_caps}
          />
        ) : null}
        {props.upstream_names.length === 0 ? null : (
          <UpstreamChoice choices={props.choices} names={props.upstream_names} />
        )}
        <details class="limits" open={apps !== undefined || days !== undefined}>
          <summary>{moreTitle(props, has_access)}</summary>
          {has_access ? <AppsChoice {...props} /> : null}
          <LifetimeChoice {...props} />
        </details>
        <div class="acts">
          <button type="submit">Allow</button>
          <button type="submit" class="quiet" formaction="/oauth/authorize/deny">
            Deny
          </button>
        </div>
      </form>
      <OtherAccount {...props} />
    </Page>
  );
}

/** The question that matters most comes first; the fields that change its answer follow. */
function MoneySentence(props: ConsentPageProps) {
  const { caps } = props.choices;
  const is_limited = caps.some(({ credits }) => credits !== "");
  return (
    <p>
      <strong>
        {is_limited
          ? `It can spend${capsSentence(caps).replace(",", "")}`
          : "It can spend all your credits"}
      </strong>
      , {whereAndHowLong(props, true)}.
    </p>
  );
}

/** The client and the account. Any client can choose any name, so the page also says whether an operator registered it. */
function Asker({ client, return_host, person }: ConsentPageProps) {
  const { service_name, host } = currentShell();
  const stranger = client.kind === "document" && client.host !== host ? client.host : null;
  return (
    <>
      <dl class="facts">
        <dt>Who asks</dt>
        <dd>
          {stranger === null ? (
            <>
              <strong>{client.name}</strong>,{" "}
              {client.kind === "registered" ? "registered with" : "part of"} {service_name}
            </>
          ) : (
            <>
              An app of <strong class="host">{stranger}</strong>
              <span class="host">{new URL(client.client_id).pathname}</span>
            </>
          )}
        </dd>
        {person === null ? null : (
          <>
            <dt>Your account</dt>
            <dd class="host">{person}</dd>
          </>
        )}
        <dt>You return to</dt>
        <dd class="host">{return_host ?? "a program on this device"}</dd>
      </dl>
      {stranger === null ? null : (
        <p>
          <strong class="alarming">{service_name} has not checked this app.</strong> Anyone can
          choose the name “{client.name}”. Allow it only if you expect{" "}
          <strong class="host">{stranger}</strong> to ask.
        </p>
      )}
    </>
  );
}

function Rights({ step, scopes, connection, resource }: ConsentPageProps) {
  const added = step.kind === "ask_more" ? step.added : scopes;
  const kept = (connection?.scopes ?? []).filter((scope) => !added.includes(scope));
  const already = step.kind === "ask_more" ? rightsInWords(kept, resource) : [];
  return (
    <>
      <h2>{step.kind === "ask_more" ? "It also wants to" : "It wants to"}</h2>
      <ul class="rights">
        {rightsInWords(added, resource).map((right) => (
          <li>{right}</li>
        ))}
      </ul>
      {already.length === 0 ? null : (
        <>
          <h2>It can already</h2>
          <ul class="rights is-old">
            {already.map((right) => (
              <li>{right}</li>
            ))}
          </ul>
        </>
      )}
      {connection === null ? null : (
        <p class="hint">
          It is connected already, and allowing it again makes no second limit.
          {connection.caps.map(
            ({ credits, period, spent }) =>
              ` ${number(spent)} of ${number(credits)} credits ${PERIOD_NAMES[period]} are spent.`,
          )}
        </p>
      )}
    </>
  );
}

function DeviceWarning({ name }: { name: string }) {
  return (
    <p class="problem">
      <strong>Allow only if you have just started {name} on this device.</strong> Any other program
      on it can claim to be {name}.
    </p>
  );
}

function moreTitle(props: ConsentPageProps, has_access: boolean): string {
  const text = whereAndHowLong(props, has_access);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)} – change`;
}

/** Which apps it can use, and for how long: "in Sketch only, for 30 days". */
function whereAndHowLong(
  { choices, registered_apps, asked_seconds }: ConsentPageProps,
  has_access: boolean,
): string {
  const nameOf = (slug: string) => registered_apps.find((it) => it.slug === slug)?.name ?? slug;
  const names = [...choices.apps.map(nameOf), choices.other_apps].filter((name) => name !== "");
  const where = choices.reach === "some" ? `in ${names.join(", ")} only` : "in all apps";
  const until = choices.days === null ? "" : `for ${lifetimeText(choices.days, asked_seconds)}`;
  return [has_access ? where : "", until].filter((part) => part !== "").join(", ");
}

/** A lifetime in its largest whole unit. */
function lifetimeText(days: Lifetime, asked_seconds: number | null): string {
  const seconds = days === "asked" ? (asked_seconds ?? 0) : days * 86_400;
  if (seconds % 86_400 === 0) return counted(seconds / 86_400, "day", "days");
  if (seconds % 3_600 === 0) return counted(seconds / 3_600, "hour", "hours");
  if (seconds % 60 === 0) return counted(seconds / 60, "minute", "minutes");
  return counted(seconds, "second", "seconds");
}

function LifetimeChoice({
  choices,
  problems,
  lifetimes_days,
  asked_seconds,
  ends_with_session,
}: ConsentPageProps) {
  return (
    <fieldset>
      <legend>When its access ends</legend>
      <FieldProblem id="days_problem" problem={problems.days} />
      <label class="unseen" for="days">
        Lifetime
      </label>
      <select id="days" name="days" {...describedBy("days_problem", problems.days, "days_hint")}>
        {asked_seconds === null ? null : (
          <option value="asked" selected={choices.days === "asked"}>
            in {lifetimeText("asked", asked_seconds)}, as it asks
          </option>
        )}
        {lifetimes_days.map((days) => (
          <option value={days} selected={days === choices.days}>
            in {lifetimeText(days, asked_seconds)}
          </option>
        ))}
      </select>
      <p class="hint" id="days_hint">
        {ends_with_session
          ? "It ends earlier if you sign out. You can also end it yourself at any time."
          : "You can end it yourself at any time, also after you sign out."}
      </p>
    </fieldset>
  );
}

/** The way to another account of the same person. */
function OtherAccount({ this_page }: ConsentPageProps) {
  return (
    <form method="post" action="/signout" class="other-account">
      <input type="hidden" name="redirect_to" value={this_page} />
      <button type="submit" class="plain">
        Use another account
      </button>
    </form>
  );
}
