/** The page for the approval of one job: the question, and each way in which it can be over. */
import type { ShownApproval } from "../../account/contract.ts";
import type { ApprovalRequest } from "../../domain/job_approval.ts";
import { holderOf } from "../account/connection_facts.tsx";
import { PERIOD_NAMES } from "../allowance/cap_choice.tsx";
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
        <Page title="Job approved" scripts={["times.js"]}>
          <h1>You approved this job</h1>
          <p>
            The app or program can start “{state.request.action}” for at most{" "}
            {credits(state.request.credits)} until{" "}
            <Time at_ms={state.request.expires_at_ms} style="clock" />.
          </p>
          <WayOn back={state.back} result="approved" />
        </Page>
      );
    case "denied":
      return (
        <Page title="Job denied">
          <h1>You denied this job</h1>
          <p>
            “{state.request.action}” was not started, and your limit stays as it is. If you did not
            expect this request, check <a href="/account/access">what has access</a>.
          </p>
          <WayOn back={state.back} result="denied" />
        </Page>
      );
    case "used":
      return (
        <Page title="Approval used">
          <h1>This approval was used</h1>
          <p>
            You approved “{state.request.action}”, and the job was started. An approval is good for
            one job. Find it in your <a href="/account/jobs">jobs</a>.
          </p>
          <WayOn back={state.back} result="approved" />
        </Page>
      );
    case "other_account":
      return <OtherAccount {...state} />;
    case "expired":
      return (
        <Page title={PROBLEMS.expired.title}>
          <ProblemText problem={PROBLEMS.expired} />
          <BackTo back={state.back} result={null} button />
        </Page>
      );
    case "token_ended":
      return (
        <Page title={PROBLEMS.token_ended.title}>
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
    <Page title="This request is for another account">
      <h1>This request is for another account</h1>
      <p>
        You are signed in{state.signed_in_as === null ? "" : ` as ${state.signed_in_as}`}. This
        account has no such request, and only the account that the app or program uses can decide.
        Nothing was approved.
      </p>
      <p>
        If this is the right account, the link is incomplete or too old: start the job again in the
        app or program, and open the new link.
      </p>
      <a class="button" href={state.signin_path}>
        Sign in with another account
      </a>
    </Page>
  );
}

/** The person's next step. */
function WayOn({ back, result }: { back: BackLink | null; result: ReturnResult }) {
  return back === null ? (
    <p>You can close this page and go back to the app or program.</p>
  ) : (
    <BackTo back={back} result={result} button />
  );
}

function Ask({ paths, shown, app, buy_path, back }: Asking) {
  const { action, credits: amount, expires_at_ms } = shown.request;
  const { label, budget } = shown;
  const missing = Math.max(0, amount - shown.credits);
  const offers = missing > 0 ? buy_path : null;
  return (
    <Page title="Approve this job?" scripts={["times.js"]}>
      <h1>Approve this job?</h1>
      <p>
        <strong>{label}</strong> wants to spend more than its limit allows, for this one job.
      </p>
      <dl class="facts">
        <dt>App</dt>
        <dd class="with-icon">
          <AppIcon look={app} size={28} /> {app.name}
        </dd>
        <dt>Job</dt>
        <dd>
          <strong>{action}</strong>
        </dd>
        <dt>Costs at most</dt>
        <dd>
          <strong>{credits(amount)}</strong>
        </dd>
        <dt>Asked by</dt>
        <dd>
          {label} ({holderOf(shown)})
        </dd>
        <dt>Its limit</dt>
        <dd>{budget === null ? "None any more" : limitText(budget)}</dd>
        <dt>Your balance</dt>
        <dd>
          {credits(shown.credits)}
          {missing > 0 ? <strong class="alarming"> – not enough for this job</strong> : null}
        </dd>
      </dl>
      <p>
        Approve only if you expect this job. Its credits count as spent, so the limit stays used up
        afterwards. Decide by <Time at_ms={expires_at_ms} style="clock" />.
      </p>
      {missing === 0 ? null : (
        <p>
          Your balance is <strong>{credits(missing)} short</strong>, so the job cannot start yet.{" "}
          {offers === null ? null : "Buy credits, then return to this page and approve."}
        </p>
      )}
      <form method="post" action={paths.approve} class="acts next">
        {offers === null ? null : (
          <a class="button" href={offers}>
            Buy credits
          </a>
        )}
        <button type="submit" class={offers === null ? undefined : "quiet"}>
          Approve
        </button>
        <button type="submit" class="quiet" formaction={paths.deny}>
          Deny
        </button>
      </form>
      {back === null ? null : <p class="hint">You return to {back.name} when you have decided.</p>}
    </Page>
  );
}

/** A limit with what is spent of it, and how much of that its holder approved beyond it. */
function limitText({ cap, spent, approved, room }: NonNullable<ShownApproval["budget"]>): string {
  const limit = `${credits(cap.credits)} ${PERIOD_NAMES[cap.period]}`;
  const beyond = approved > 0 ? ` (${number(approved)} of them approved beyond it)` : "";
  return `${limit}: ${number(spent)} spent${beyond}, ${number(room)} left`;
}
