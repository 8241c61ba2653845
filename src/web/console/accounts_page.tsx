/** Accounts found, and the form that finds them. */
import { ACCOUNT_SORTS, type AccountSort } from "../../domain/wire.ts";
import { Page } from "../layout/layout.tsx";
import { Time } from "../layout/time.tsx";
import { nameFromSlug, number } from "../layout/account_words.ts";
import { accountAddress, AsOf, consoleAddress, Pager, ReadModelDown, Table } from "./table.tsx";

/** An account in a list; null: not known there. */
export interface ShownAccount {
  readonly identity_id: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly plan: string | null;
  readonly credits: number | null;
  readonly reserved: number | null;
  readonly created_at: string | null;
}

export interface AccountsPageProps {
  readonly q: string;
  readonly sort: AccountSort;
  readonly cursor: string | null;
  readonly accounts: readonly ShownAccount[];
  readonly next_cursor: string | undefined;
  /** Null where the read model does not answer. */
  readonly as_of: string | null;
}

const SORT_NAMES: Readonly<Record<AccountSort, string>> = {
  created: "Newest first",
  credits: "Most credits first",
};

const COLUMNS = ["Person", "Plan", { amount: "Credits" }, { amount: "On hold" }, "Since"] as const;

export function AccountsPage(props: AccountsPageProps) {
  const { q, sort, cursor, accounts, next_cursor, as_of } = props;
  return (
    <Page
      title={q === "" ? "Accounts" : `Accounts: ${q}`}
      section="accounts"
      scripts={["times.js"]}
    >
      <div class="page-head">
        <h1>Accounts</h1>
        <AccountSearch q={q} sort={sort} />
      </div>
      {as_of === null ? <ReadModelDown /> : null}
      <section class="panel" aria-label={q === "" ? "All accounts" : "Accounts found"}>
        <p class="sorts">
          {ACCOUNT_SORTS.map((one) => (
            <a
              href={consoleAddress("/console/accounts", { q, sort: one })}
              aria-current={one === sort ? "true" : undefined}
            >
              {SORT_NAMES[one]}
            </a>
          ))}
        </p>
        <Table
          label={q === "" ? "All accounts" : "Accounts found"}
          columns={COLUMNS}
          rows={accounts.map(accountCells)}
          empty={<NoAccounts q={q} />}
        />
      </section>
      <Pager path="/console/accounts" filters={{ q, sort }} {...{ cursor, next_cursor }} />
      {as_of === null ? null : <AsOf as_of={as_of} />}
    </Page>
  );
}

function accountCells(it: ShownAccount) {
  const { identity_id, name, email, plan, credits, reserved, created_at } = it;
  return [
    <>
      <a href={accountAddress(identity_id)}>{email ?? name ?? identity_id}</a>
      <span class="hint below">
        {email === null || name === null ? null : `${name} · `}
        <code>{identity_id}</code>
      </span>
    </>,
    plan === null ? "–" : nameFromSlug(plan),
    credits === null ? (
      "–"
    ) : (
      // A balance opens into the lines that made it.
      <a
        class={credits < 0 ? "is-negative" : undefined}
        href={`${accountAddress(identity_id)}#passbook`}
        aria-label={`${number(credits)}: the lines that made it`}
      >
        {number(credits)}
      </a>
    ),
    reserved === null ? "–" : number(reserved),
    created_at === null ? (
      <span class="hint">not in the lists yet</span>
    ) : (
      <Time at_ms={Date.parse(created_at)} style="day" />
    ),
  ];
}

function NoAccounts({ q }: { q: string }) {
  if (q === "") return "Nobody has an account yet. It comes with a person’s first app.";
  return (
    <>
      Nobody is found by “{q}”. Type the beginning of an e-mail address, or a whole identity or
      account id. <a href="/console/accounts">Show all accounts</a>
    </>
  );
}

/** Finds accounts, from any page of the console. */
export function AccountSearch({ q, sort }: { q: string; sort?: AccountSort }) {
  return (
    <form method="get" action="/console/accounts" class="filters" role="search">
      <label for="q">Find an account</label>
      <input
        id="q"
        name="q"
        type="search"
        value={q}
        maxlength={254}
        placeholder="E-mail address, identity or id"
        autocomplete="off"
        spellcheck={false}
      />
      {sort === undefined || sort === "created" ? null : (
        <input type="hidden" name="sort" value={sort} />
      )}
      <button type="submit" class="small">
        Find
      </button>
    </form>
  );
}
