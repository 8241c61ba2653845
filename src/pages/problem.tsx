/** A page that says what went wrong and what to do, and leads on. */
import { Page } from "./layout.tsx";
import type { Problem } from "./words.ts";

/** `leads_on`: whether there is any other page to go to. */
export function ProblemPage({ problem, leads_on }: { problem: Problem; leads_on: boolean }) {
  return (
    <Page title={problem.title}>
      <ProblemText problem={problem} />
      {leads_on ? (
        <a class="button quiet" href="/account">
          Go to your account
        </a>
      ) : null}
    </Page>
  );
}

/** The heading and words of a problem; the first thing on its page. */
export function ProblemText({ problem }: { problem: Problem }) {
  return (
    <div class="problem" role="alert">
      <h1>{problem.title}</h1>
      {problem.what === undefined ? null : <p>{problem.what}</p>}
      <p>{problem.next}</p>
    </div>
  );
}
