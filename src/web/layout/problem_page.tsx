/** A page that says what went wrong, with the next step. */
import { say, t, type Said } from "../language/text.tsx";
import { FIRST_TO_READ, Page } from "./layout.tsx";
import type { Problem } from "./messages.ts";

/** The link or button of a problem's page. */
export type NextStep =
  | { readonly kind: "link"; readonly href: string; readonly text: Said }
  | { readonly kind: "sign_out" };

/** `next_step`: null if there is no other page to go to. */
export function ProblemPage(props: {
  readonly problem: Problem;
  readonly next_step: NextStep | null;
}) {
  const { problem, next_step } = props;
  return (
    <Page title={say(problem.title)} without_account_link>
      <ProblemText problem={problem} />
      {next_step === null ? null : <NextStepButton next_step={next_step} />}
    </Page>
  );
}

function NextStepButton({ next_step }: { next_step: NextStep }) {
  if (next_step.kind === "sign_out") {
    return (
      <form method="post" action="/signout" class="acts next">
        <button type="submit" class="quiet">
          {t("Sign out")}
        </button>
        <a class="button quiet" href="/account/data.json" download>
          {t("Download my data")}
        </a>
      </form>
    );
  }
  return (
    <a class="button quiet" href={next_step.href}>
      {say(next_step.text)}
    </a>
  );
}

/** The heading and text of a problem. */
export function ProblemText({ problem }: { problem: Problem }) {
  return (
    <div class="problem" role="alert" {...FIRST_TO_READ}>
      <h1>{say(problem.title)}</h1>
      {problem.what === undefined ? null : (
        <p>
          {say(problem.what)}
          {problem.address === undefined ? null : <code class="address">{problem.address}</code>}
        </p>
      )}
      <p>{say(problem.next)}</p>
    </div>
  );
}
