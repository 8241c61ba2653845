/** Every entry of a ledger with the balance after it, for operators. */
import { Time } from "../layout/time.tsx";
import { number, signed } from "../layout/labels.ts";
import { By } from "./started_by.tsx";
import type { StatementEntry } from "./statement_entries.ts";

interface EntryTableProps {
  readonly entries: readonly StatementEntry[];
  /** The path of a job's page; without it, jobs are not links. */
  readonly jobPath?: (job_id: string) => string;
}

export function EntryTable({ entries, jobPath }: EntryTableProps) {
  return (
    <table class="statement">
      <thead>
        <tr>
          <th scope="col">When</th>
          <th scope="col">What</th>
          <th scope="col" class="amount">
            Credits
          </th>
          <th scope="col" class="amount">
            Balance
          </th>
        </tr>
      </thead>
      <tbody>
        {entries.map(({ job, job_id, at_ms, name, about, amount, movement, ...entry }) => (
          <tr class={entry.is_hold ? "is-hold" : undefined}>
            <td class="when">
              <Time at_ms={at_ms} style="clock" />
            </td>
            <td>
              {job_id === null || jobPath === undefined ? (
                <span class="what">{name}</span>
              ) : (
                <a class="what" href={jobPath(job_id)}>
                  {name}
                </a>
              )}
              {about === null ? null : <span class="hint below">{about}</span>}
              <By job={job} class="hint below" />
            </td>
            <td class={amount > 0 && movement === null ? "amount is-in" : "amount"}>
              {signed(amount)}
              {movement === null ? null : <span class="hint below">{movement}</span>}
            </td>
            <td class="amount">{number(entry.balance_after)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
