/** Every entry of a ledger with the balance after it, for operators. */
import { Time } from "../layout/time.tsx";
import { number, signed } from "../layout/labels.ts";
import type { StatementEntry } from "./statement_entries.ts";

export function EntryTable({ entries }: { entries: readonly StatementEntry[] }) {
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
        {entries.map(({ at_ms, name, about, amount, movement, balance_after, is_hold }) => (
          <tr class={is_hold ? "is-hold" : undefined}>
            <td class="when">
              <Time at_ms={at_ms} style="clock" />
            </td>
            <td>
              <span class="what">{name}</span>
              {about === null ? null : <span class="hint below">{about}</span>}
            </td>
            <td class={amount > 0 && movement === null ? "amount is-in" : "amount"}>
              {signed(amount)}
              {movement === null ? null : <span class="hint below">{movement}</span>}
            </td>
            <td class="amount">{number(balance_after)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
