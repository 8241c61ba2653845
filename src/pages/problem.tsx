/** A page that says what went wrong and what to do, and leads on. */
import { Page } from "./layout.tsx";
import type { Problem } from "./words.ts";

/** `elsewhere`: the address that the page leads on to; without it, the person's account. */
export function ProblemPage({ problem, elsewhere }: { problem: Problem; elsewhere?: string }) {
  return (
    <Page title={problem.title}>
      <ProblemText problem={problem} />
      <a class="button quiet" href={elsewhere ?? "/account"}>
        {elsewhere === undefined ? "Go to your account" : `Go to ${elsewhere}`}
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
