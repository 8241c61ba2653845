/** `GET /console/differences`: what the last comparison of each account with its copies found. */
import { factory } from "../../http/context.ts";
import { listFound } from "../../operator/differences.ts";
import { number } from "../layout/labels.ts";
import { ConsolePage } from "./console_page.tsx";
import { DIFFERENCE_PLACES } from "./labels.ts";

import { consolePath, Table } from "./table.tsx";

type Found = Awaited<ReturnType<typeof listFound>>;

export const showDifferences = factory.createHandlers(async (context) =>
  context.html(<DifferencesPage {...await listFound(context.get("services"))} />),
);

function DifferencesPage({ differences, is_cut }: Found) {
  return (
    <ConsolePage title="Differences" section="console">
      <section class="panel" aria-label="Differences">
        <p class="hint">
          The schedule compares each account within a week with the sums of its own rows, the
          archive, the lists of this console and the payment service. Nothing is repaired by itself.{" "}
          <a href="/console/help/alerts#differences">What to do</a>
        </p>
        <Table
          label="Differences"
          columns={["Account", "Copy", "What", { amount: "Expected" }, { amount: "Found" }, "When"]}
          rows={differences.map((one) => [
            <Account {...one} />,
            DIFFERENCE_PLACES[one.place] ?? one.place,
            one.what.replaceAll("_", " "),
            one.expected === null ? "" : number(one.expected),
            one.found === null ? "" : number(one.found),
            <time datetime={one.found_at}>{one.found_at.slice(0, 16).replace("T", ", ")} UTC</time>,
          ])}
          empty="No account differs from its copies, as far as they were compared."
        />
        {is_cut ? (
          <p class="hint">
            There are more. To see all: <code>passbook admin differences</code>
          </p>
        ) : null}
      </section>
    </ConsolePage>
  );
}

function Account({ identity_id, place }: Found["differences"][number]) {
  if (identity_id === null) return <>{place === "read_model" ? "All accounts" : "A former one"}</>;
  return <a href={consolePath(`/console/accounts/${identity_id}`, {})}>{identity_id}</a>;
}
