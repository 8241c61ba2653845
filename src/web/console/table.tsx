/** Lists of the console: a table with its columns' names, the way to its next page, and its filters. */
import type { Child, PropsWithChildren } from "hono/jsx";

/** A column by its name; `amount`: numbers, which stand to the right. */
export type Column = string | { readonly amount: string };

interface TableProps {
  /** What the table lists. */
  readonly label: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Child[])[];
  /** Said where there are no rows. */
  readonly empty: Child;
}

export function Table({ label, columns, rows, empty }: TableProps) {
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  const heads = columns.map((column) =>
    typeof column === "string" ? { name: column } : { name: column.amount, class: "amount" },
  );
  return (
    <table class="list" aria-label={label}>
      <thead>
        <tr>
          {heads.map(({ name, ...rest }) => (
            <th scope="col" {...rest}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((cells) => (
          <tr>
            {cells.map((cell, at) => (
              <td class={heads[at]?.class} data-name={heads[at]?.name}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The filters of a list, as a query: empty ones are left out. */
export type Filters = Readonly<Record<string, string | number | null | undefined>>;

/** An address below the console with filters. */
export function consoleAddress(path: string, filters: Filters = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) {
    if (value !== null && value !== undefined && value !== "") query.set(name, String(value));
  }
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

/** The address of one account in the console. */
export function accountAddress(identity_id: string, act = ""): string {
  return `/console/accounts/${encodeURIComponent(identity_id)}${act === "" ? "" : `/${act}`}`;
}

interface PagerProps {
  readonly path: string;
  readonly filters: Filters;
  /** Where this page begins; null: at the beginning. */
  readonly cursor: string | null;
  readonly next_cursor: string | undefined;
}

export function Pager({ path, filters, cursor, next_cursor }: PagerProps) {
  if (cursor === null && next_cursor === undefined) return null;
  return (
    <nav class="pages" aria-label="Pages">
      {cursor === null ? <span></span> : <a href={consoleAddress(path, filters)}>First page</a>}
      {next_cursor === undefined ? null : (
        <a href={consoleAddress(path, { ...filters, cursor: next_cursor })} rel="next">
          Next page
        </a>
      )}
    </nav>
  );
}

/** A form of filters: it asks for the page anew. */
export function FilterForm({ path, children }: PropsWithChildren<{ readonly path: string }>) {
  return (
    <form method="get" action={path} class="filters">
      {children}
      <button type="submit" class="quiet small">
        Show
      </button>
    </form>
  );
}

interface FilterProps {
  readonly name: string;
  readonly label: string;
  readonly value: string | null | undefined;
}

/** A filter to type. */
export function TypedFilter({ name, label, value }: FilterProps) {
  return (
    <>
      <label for={name}>{label}</label>
      <input id={name} name={name} type="text" value={value ?? ""} maxlength={254} />
    </>
  );
}

/** A filter to choose; an option without a value is none. */
export function ChosenFilter({
  name,
  label,
  value,
  options,
}: FilterProps & { readonly options: readonly (readonly [value: string, name: string])[] }) {
  return (
    <>
      <label for={name}>{label}</label>
      <select id={name} name={name}>
        {options.map(([one, text]) => (
          <option value={one} selected={one === (value ?? "")}>
            {text}
          </option>
        ))}
      </select>
    </>
  );
}

/** Said in place of a list that the read model cannot give. */
export function ReadModelDown() {
  return (
    <div class="problem" role="status">
      <p>
        <strong>The read model does not answer right now</strong>, so there are no lists and totals.
        Nothing is lost: it catches up by itself.
      </p>
      <p>
        Accounts work, and you can open one by its identity or the beginning of its e-mail address.
      </p>
    </div>
  );
}

/** How true a list is. */
export function AsOf({ as_of }: { as_of: string }) {
  return (
    <p class="zone">
      Times are in <span data-zone>UTC</span>. From the read model, asked at{" "}
      <time datetime={as_of}>{as_of.slice(11, 19)} UTC</time>. It follows the accounts by seconds;
      an account’s own page is always exact.
    </p>
  );
}
