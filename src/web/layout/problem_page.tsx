/** A page that says what went wrong and what to do, and leads on. */
import { Page } from "./layout.tsx";
import type { Problem } from "./words.ts";

/** Where a page of a problem leads on to, and what its link says; or its button that signs out. */
export type WayOn = { readonly href: string; readonly text: string } | { readonly act: "sign_out" };

/** `way_on`: null where there is no other page to go to. */
export function ProblemPage({ problem, way_on }: { problem: Problem; way_on: WayOn | null }) {
  return (
    <Page title={problem.title} leads_on>
      <ProblemText problem={problem} />
      {way_on === null ? null : <GoOn way_on={way_on} />}
    </Page>
  );
}

function GoOn({ way_on }: { way_on: WayOn }) {
  if ("act" in way_on) {
    return (
      <form method="post" action="/signout">
        <button type="submit" class="quiet">
          Sign out
        </button>
      </form>
    );
  }
  return (
    <a class="button quiet" href={way_on.href}>
      {way_on.text}
    </a>
  );
}

/** The heading and words of a problem; the first thing on its page. */
export function ProblemText({ problem }: { problem: Problem }) {
  return (
    <div class="problem" role="alert">
      <h1>{problem.title}</h1>
      {problem.what === undefined ? null : (
        <p>
          {problem.what}
          {problem.address === undefined ? null : <code class="address">{problem.address}</code>}
        </p>
      )}
      <p>{problem.next}</p>
    </div>
  );
}
