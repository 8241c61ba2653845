/** A page that says what went wrong and what to do, and leads on. */
import { Page } from "./layout.tsx";
import type { Problem } from "./words.ts";

export function ProblemPage({ problem }: { problem: Problem }) {
  return (
    <Page title={problem.title}>
      <ProblemText problem={problem} />
      <a class="button quiet" href="/account">
        Go to your account
      </a>
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
