/** `GET /console/search?q=`: one search field for everything that has an id. One hit opens it. */
import { factory } from "../../http/context.ts";
import { search, searchQuery, type Hit } from "../../operator/search.ts";
import { ConsolePage } from "./console_page.tsx";
import { ACT_NAMES } from "./labels.ts";
import { Panel } from "./panel.tsx";
import { personNames, readQuery } from "./queries.ts";
import { accountPath, appPath, consolePath, jobPath } from "./table.tsx";

/** In the order of the list. */
const KINDS = {
  account: "Accounts",
  job: "Jobs",
  payment: "Payments",
  app: "Apps",
  client: "OAuth clients",
  act: "Operators’ actions",
} as const satisfies Record<Hit["kind"], string>;

export const showSearch = factory.createHandlers(async (context) => {
  const { q = "" } = readQuery(context, searchQuery);
  const { hits, incomplete } = await search(context.get("services"), q);
  const [only, ...others] = hits;
  if (only !== undefined && others.length === 0 && incomplete.length === 0) {
    return context.redirect(pathOf(only), 303);
  }
  const people = hits.flatMap((hit) => ("identity_id" in hit ? [hit.identity_id] : []));
  const personName = await personNames(context, people);
  return context.html(
    <ConsolePage
      title={q === "" ? "Search" : `Search: ${q}`}
      heading={q === "" ? "Search" : <>Search: “{q}”</>}
      section="console"
    >
      {incomplete.length === 0 ? null : (
        <p class="problem" role="status">
          Not everything could be searched just now. Missing: {incomplete.join(", ")}. Try again in
          a moment.
        </p>
      )}
      {hits.length === 0 ? <NothingFound q={q} /> : null}
      {(Object.keys(KINDS) as Hit["kind"][]).map((kind) => (
        <HitList
          kind={kind}
          hits={hits.filter((hit) => hit.kind === kind)}
          personName={personName}
        />
      ))}
    </ConsolePage>,
  );
});

interface HitListProps {
  readonly kind: Hit["kind"];
  readonly hits: readonly Hit[];
  readonly personName: (identity_id: string) => string;
}

function HitList({ kind, hits, personName }: HitListProps) {
  if (hits.length === 0) return null;
  return (
    <Panel id={`found-${kind}`} title={KINDS[kind]}>
      <ul class="rows">
        {hits.map((hit) => {
          const { text, more } = textOf(hit, personName);
          return (
            <li>
              <span>
                <a href={pathOf(hit)}>{text}</a>
                <span class="hint below">{more}</span>
              </span>
            </li>
          );
        })}
      </ul>
    </Panel>
  );
}

function textOf(hit: Hit, personName: (identity_id: string) => string) {
  switch (hit.kind) {
    case "account":
      return { text: personName(hit.identity_id), more: hit.identity_id };
    case "job":
      return { text: hit.name, more: `${personName(hit.identity_id)} · ${hit.id}` };
    case "payment":
      return { text: hit.id, more: personName(hit.identity_id) };
    case "app":
      return { text: hit.name, more: hit.slug };
    case "client":
      return { text: hit.name, more: hit.id };
    case "act":
      return {
        text: ACT_NAMES[hit.act] ?? hit.act,
        more: `${hit.subject} · ${hit.at.slice(0, 16).replace("T", " ")} UTC`,
      };
  }
}

/** Every role may open the page. */
function pathOf(hit: Hit): string {
  switch (hit.kind) {
    case "account":
      return accountPath(hit.identity_id);
    case "job":
      return jobPath(hit.identity_id, hit.id);
    case "payment":
      return `${accountPath(hit.identity_id)}#purchases`;
    case "app":
      return appPath(hit.slug);
    case "client":
      return appPath(hit.slug, "/oauth");
    case "act":
      return consolePath("/console/audit", { request_id: hit.request_id });
  }
}

function NothingFound({ q }: { q: string }) {
  return (
    <section class="panel" aria-label="Result">
      <p class="empty">
        {q === "" ? "Type what you have into the field above." : "Nothing was found."}
      </p>
      <ul>
        <li>A person: the start of an e-mail address, the identity, or the account’s id.</li>
        <li>A job: its whole id. Lists keep jobs for a limited time.</li>
        <li>A payment: its whole id, which begins with pi_ or cs_.</li>
        <li>
          An app: its slug, or the start of its name. A client: its whole id, such as sketch~web.
        </li>
        <li>
          An operator’s action: the id of its request. Other requests are in{" "}
          <a href={consolePath("/console/requests", { request_id: q })}>Requests</a>.
        </li>
      </ul>
    </section>
  );
}
