/** Lists of the console: a table, the links to its pages, and its filters. */
import { FIRST_TO_READ } from "../layout/layout.tsx";
import type { Child, PropsWithChildren } from "hono/jsx";
import type { SortOrder } from "../../domain/wire.ts";

/** A column's name; `amount`: a column of numbers, aligned to the right. */
export type Column = string | ((Amount | Name) & ColumnOptions);

type Amount = { readonly amount: string };
type Name = { readonly name: string };

interface ColumnOptions {
  readonly sort?: ColumnSort;
  /** The place in a folded row: its first line is `title` and `side`, its second the others in this order. */
  readonly place?: "title" | "side" | "start" | "middle" | "end";
}

/** The link that sorts by a column, and how the list is sorted by it now; null: by another column. */
interface ColumnSort {
  readonly href: string;
  readonly order: SortOrder | null;
}

interface TableProps {
  readonly label: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Child[])[];
  /** Shown instead of the table if there are no rows. */
  readonly empty: Child;
  /** An id for each row, so that the open page can count new rows and update the others; see `scripts/live.js`. */
  readonly ids?: readonly string[];
  /** A name for each row. With them, rows are folded on narrow screens, and open to show the columns without a place. */
  readonly names?: readonly string[];
}

export function Table({ label, columns, rows, empty, ids, names }: TableProps) {
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  const heads = columns.map((column) => {
    if (typeof column === "string") return { name: column };
    const { sort, place } = column;
    return "name" in column
      ? { name: column.name, sort, place }
      : { name: column.amount, class: "amount", sort, place };
  });
  return (
    <table class={names === undefined ? "list" : "list folds"} aria-label={label}>
      <thead>
        <tr>
          {heads.map(({ name, sort, ...head }) => (
            <th
              scope="col"
              aria-sort={sort?.order ? ARIA_SORTS[sort.order] : undefined}
              class={head.class}
            >
              {sort === undefined ? name : <SortLink name={name} {...sort} />}
            </th>
          ))}
        </tr>
      </thead>
      <tbody data-live-list={ids === undefined ? undefined : ""}>
        {rows.map((cells, row) => (
          <tr id={ids?.[row]} data-live={ids === undefined ? undefined : ""}>
            {cells.map((cell, at) => (
              <td
                class={heads[at]?.class}
                data-name={heads[at]?.name}
                data-place={heads[at]?.place}
              >
                {cell}
              </td>
            ))}
            {names === undefined ? null : (
              <td class="more">
                <details>
                  <summary>
                    <span class="unseen">{`More about ${names[row] ?? ""}`}</span>
                  </summary>
                </details>
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const ARIA_SORTS = { asc: "ascending", desc: "descending" } as const;

function SortLink({ name, href, order }: ColumnSort & { readonly name: string }) {
  return (
    <a href={href}>
      {name}
      {order === null ? null : <span aria-hidden="true">{order === "asc" ? " ↑" : " ↓"}</span>}
    </a>
  );
}

/** An e-mail address, which breaks before its parts rather than inside them. */
export function Address({ text }: { text: string }) {
  const parts = text.split(/(?<=@)|(?=\.)/);
  return (
    <>
      {parts.map((part, at) => (
        <>
          {at === 0 ? null : <wbr />}
          {part}
        </>
      ))}
    </>
  );
}

/** The filters of a list by query parameter; empty ones are left out of the path. */
export type Filters = Readonly<Record<string, string | number | null | undefined>>;

export function consolePath(path: string, filters: Filters = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) {
    if (value !== null && value !== undefined && value !== "") query.set(name, String(value));
  }
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

/** The path of an app's page, or of a page below it. */
export const appPath = (slug: string, part = ""): string =>
  `/console/apps/${encodeURIComponent(slug)}${part}`;

/** The path of an account's page, or of an action's form below it. */
export function accountPath(identity_id: string, action = ""): string {
  return `/console/accounts/${encodeURIComponent(identity_id)}${action === "" ? "" : `/${action}`}`;
}

/** The path of a job's page. */
export function jobPath(identity_id: string, job_id: string): string {
  return accountPath(identity_id, `jobs/${job_id}`);
}

interface PagerProps {
  readonly path: string;
  readonly filters: Filters;
  /** The cursor of this page; null on the first page. */
  readonly cursor: string | null;
  readonly next_cursor: string | undefined;
}

export function Pager({ path, filters, cursor, next_cursor }: PagerProps) {
  if (cursor === null && next_cursor === undefined) return null;
  return (
    <nav class="pages" aria-label="Pages">
      {cursor === null ? <span></span> : <a href={consolePath(path, filters)}>First page</a>}
      {next_cursor === undefined ? null : (
        <a href={consolePath(path, { ...filters, cursor: next_cursor })} rel="next">
          Next page
        </a>
      )}
    </nav>
  );
}

/** A filter of a list: a list of options, of which "" means no filter, or a field for text or for a UTC day. */
export interface Filter {
  readonly name: string;
  readonly label: string;
  readonly options?: readonly (readonly [value: string, name: string])[];
  readonly type?: "date";
}

interface FilterFormProps {
  readonly path: string;
  readonly filters: readonly Filter[];
  /** The filters as they are. */
  readonly values: Filters;
}

/** The children are further fields of the form. */
export function FilterForm(props: PropsWithChildren<FilterFormProps>) {
  const { path, filters, values, children } = props;
  return (
    <form method="get" action={path} class="filters">
      {children}
      {filters.map(({ name, label, options, type = "text" }) => (
        <span class="filter">
          <label for={name}>{label}</label>
          {options === undefined ? (
            <input
              id={name}
              name={name}
              type={type}
              value={values[name] ?? ""}
              maxlength={type === "text" ? 254 : undefined}
            />
          ) : (
            <select id={name} name={name}>
              {options.map(([option, text]) => (
                <option value={option} selected={option === (values[name] ?? "")}>
                  {text}
                </option>
              ))}
            </select>
          )}
        </span>
      ))}
      <button type="submit" class="quiet small">
        Show
      </button>
    </form>
  );
}

/** Says why a filter was refused. */
export function FilterProblem({ problem }: { problem: string }) {
  return (
    <p class="problem" role="alert" {...FIRST_TO_READ}>
      {problem}
    </p>
  );
}

/** Shown instead of a list if the read model cannot be read. */
export function ReadModelUnavailable() {
  return (
    <div class="problem" role="status">
      <p>
        <strong>Lists and totals are not available right now</strong>, because their database is not
        responding. No data is lost, and they will catch up automatically.
      </p>
      <p>
        Accounts still work. You can open one by its identity or the start of its e-mail address.
      </p>
    </div>
  );
}

/** Says when a list was read, and how up to date it is. */
/** `by_schedule`: the schedule wrote the list at that time. */
export function AsOf({ as_of, by_schedule = false }: { as_of: string; by_schedule?: boolean }) {
  const at = <time datetime={as_of}>{as_of.slice(11, 19)} UTC</time>;
  return (
    <p class="zone">
      Times are in <span data-zone>UTC</span>.{" "}
      {by_schedule ? (
        <>
          The schedule lists the 500 accounts at each end of this order. This list and its credits
          are as of {at}.
        </>
      ) : (
        <>This list was read at {at} and can be a few seconds behind.</>
      )}{" "}
      An account’s own page is always up to date.
    </p>
  );
}
