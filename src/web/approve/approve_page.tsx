/** The page for the approval of one job: the question, and each way in which it can be over. */
import type { ShownApproval } from "../../account/contract.ts";
import type { ApprovalRequest } from "../../domain/job_approval.ts";
import { holderOf } from "../account/connection_facts.tsx";
import { PERIOD_NAMES } from "../allowance/cap_choice.tsx";
import { rich, say, t } from "../language/text.tsx";
import { AppIcon, type AppLook } from "../layout/app_icon.tsx";
import { credits, number } from "../layout/labels.ts";
import { Page } from "../layout/layout.tsx";
import type { Problem } from "../layout/messages.ts";
import { BackTo, type BackLink, type ReturnResult } from "../layout/back_link.tsx";
import { ProblemText } from "../layout/problem_page.tsx";
import { Time } from "../layout/time.tsx";

interface Asking {
  /** The paths of its forms. */
  readonly paths: { readonly approve: string; readonly deny: string };
  readonly shown: ShownApproval;
  readonly app: AppLook;
  /** Where the holder buys credits and returns from; null: nothing is for sale. */
  readonly buy_path: string | null;
  /** Null: the link names no way back. */
  readonly back: BackLink | null;
}

export type ApprovePageState =
  | ({ readonly kind: "ask" } & Asking)
  | {
      readonly kind: "approved" | "denied" | "used";
      readonly request: ApprovalRequest;
      readonly back: BackLink | null;
    }
  | {
      readonly kind: "other_account";
      /** Null: the account has neither an e-mail address nor a name. */
      readonly signed_in_as: string | null;
      readonly signin_path: string;
    }
  | { readonly kind: "expired"; readonly back: BackLink | null }
  | { readonly kind: "token_ended" };

const PROBLEMS = {
  expired: {
    title: "This request has expired",
    what: "A request to approve a job is valid for 15 minutes.",
    next: "Start the job again in the app or program, and open the new link.",
  },
  token_ended: {
    title: "Nothing to approve any more",
    what: "The connection that requested this job was revoked or has expired.",
    next: "Connect the app or program again, and start the job there.",
  },
} as const satisfies Readonly<Record<string, Problem>>;

export function ApprovePage({ state }: { state: ApprovePageState }) {
  switch (state.kind) {
    case "ask":
      return <Ask {...state} />;
    case "approved":
      return (
        <Page title={t("Job approved")} scripts={["times.js"]}>
          <h1>{t("You approved this job")}</h1>
          <p>
            {rich("The app or program can start “{action}” for at most {credits} until {time}.", {
              action: state.request.action,
              credits: credits(state.request.credits),
              time: <Time at_ms={state.request.expires_at_ms} style="clock" />,
            })}
          </p>
          <WayOn back={state.back} result="approved" />
        </Page>
      );
    case "denied":
      return (
        <Page title={t("Job denied")}>
          <h1>{t("You denied this job")}</h1>
          <p>
            {rich(
              "“{action}” was not started, and your limit stays as it is. If you did not expect this request, check {link}.",
              {
                action: state.request.action,
                link: <a href="/account/access">{t("what has access")}</a>,
              },
            )}
          </p>
          <WayOn back={state.back} result="denied" />
        </Page>
      );
    case "used":
      return (
        <Page title={t("Approval used")}>
          <h1>{t("This approval was used")}</h1>
          <p>
            {rich(
              "You approved “{action}”, and the job was started. An approval is good for one job. Find it in your {link}.",
              { action: state.request.action, link: <a href="/account/jobs">{t("jobs")}</a> },
            )}
          </p>
          <WayOn back={state.back} result="approved" />
        </Page>
      );
    case "other_account":
      return <OtherAccount {...state} />;
    case "expired":
      return (
        <Page title={t(PROBLEMS.expired.title)}>
          <ProblemText problem={PROBLEMS.expired} />
          <BackTo back={state.back} result={null} button />
        </Page>
      );
    case "token_ended":
      return (
        <Page title={t(PROBLEMS.token_ended.title)}>
          <ProblemText problem={PROBLEMS.token_ended} />
        </Page>
      );
  }
}

/** The account has no such request. */
function OtherAccount(
  state: Pick<Extract<ApprovePageState, { kind: "other_account" }>, "signed_in_as" | "signin_path">,
) {
  return (
    <Page title={t("This request is for another account")}>
      <h1>{t("This request is for another account")}</h1>
      <p>
        {state.signed_in_as === null
          ? t("You are signed in.")
          : t("You are signed in as {person}.", { person: state.signed_in_as })}{" "}
        {t(
          "This account has no such request, and only the account that the app or program uses can decide. Nothing was approved.",
        )}
      </p>
      <p>
        {t(
          "If this is the right account, the link is incomplete or too old: start the job again in the app or program, and open the new link.",
        )}
      </p>
      <a class="button" href={state.signin_path}>
        {t("Sign in with another account")}
      </a>
    </Page>
  );
}

/** The person's next step. */
function WayOn({ back, result }: { back: BackLink | null; result: ReturnResult }) {
  return back === null ? (
    <p>{t("You can close this page and go back to the app or program.")}</p>
  ) : (
    <BackTo back={back} result={result} button />
  );
}

function Ask({ paths, shown, app, buy_path, back }: Asking) {
  const { credits: amount, expires_at_ms } = shown.request;
  const missing = Math.max(0, amount - shown.credits);
  const offers = missing > 0 ? buy_path : null;
  return (
    <Page title={t("Approve this job?")} scripts={["times.js"]}>
      <h1>{t("Approve this job?")}</h1>
      <p>
        {rich("{asker} wants to spend more than its limit allows, for this one job.", {
          asker: <strong>{shown.label}</strong>,
        })}
      </p>
      <Facts shown={shown} app={app} missing={missing} />
      <p>
        {t(
          "Approve only if you expect this job. Its credits count as spent, so the limit stays used up afterwards.",
        )}{" "}
        {rich("Decide by {time}.", { time: <Time at_ms={expires_at_ms} style="clock" /> })}
      </p>
      {missing === 0 ? null : (
        <p>
          {rich("Your balance is {short}, so the job cannot start yet.", {
            short: <strong>{t("{credits} short", { credits: credits(missing) })}</strong>,
          })}{" "}
          {offers === null ? null : t("Buy credits, then return to this page and approve.")}
        </p>
      )}
      <form method="post" action={paths.approve} class="acts next">
        {offers === null ? null : (
          <a class="button" href={offers}>
            {t("Buy credits")}
          </a>
        )}
        <button type="submit" class={offers === null ? undefined : "quiet"}>
          {t("Approve")}
        </button>
        <button type="submit" class="quiet" formaction={paths.deny}>
          {t("Deny")}
        </button>
      </form>
      {back === null ? null : (
        <p class="hint">
          {t("You return to {name} when you have decided.", { name: say(back.name) })}
        </p>
      )}
    </Page>
  );
}

/** `missing`: the credits by which the balance is too low. */
function Facts(props: Pick<Asking, "shown" | "app"> & { readonly missing: number }) {
  const { shown, app, missing } = props;
  const { label, budget } = shown;
  return (
    <dl class="facts">
      <dt>{t("App")}</dt>
      <dd class="with-icon">
        <AppIcon look={app} size={28} /> {app.name}
      </dd>
      <dt>{t("Job")}</dt>
      <dd>
        <strong>{shown.request.action}</strong>
      </dd>
      <dt>{t("Costs at most")}</dt>
      <dd>
        <strong>{credits(shown.request.credits)}</strong>
      </dd>
      <dt>{t("Asked by")}</dt>
      <dd>
        {label} ({holderOf(shown)})
      </dd>
      <dt>{t("Its limit")}</dt>
      <dd>{budget === null ? t("None any more") : limitText(budget)}</dd>
      <dt>{t("Your balance")}</dt>
      <dd>
        {credits(shown.credits)}
        {missing > 0 ? (
          <strong class="alarming">{` ${t("– not enough for this job")}`}</strong>
        ) : null}
      </dd>
    </dl>
  );
}

/** A limit with what is spent of it, and how much of that its holder approved beyond it. */
function limitText({ cap, spent, approved, room }: NonNullable<ShownApproval["budget"]>): string {
  const values = {
    limit: `${credits(cap.credits)} ${t(PERIOD_NAMES[cap.period])}`,
    spent: number(spent),
    room: number(room),
  };
  return approved > 0
    ? t("{limit}: {spent} spent ({approved} of them approved beyond it), {room} left", {
        ...values,
        approved: number(approved),
      })
    : t("{limit}: {spent} spent, {room} left", values);
}
