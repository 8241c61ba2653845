/** Spending by app: a table with a bar for each number. */
import type { AppSpending } from "../../domain/history.ts";
import { t } from "../language/text.tsx";
import { counted, number } from "../layout/labels.ts";

const BARS_MAX = 6;

interface SpendingChartProps {
  readonly spending: readonly AppSpending[];
  readonly appName: (slug: string | null) => string;
}

export function SpendingChart({ spending, appName }: SpendingChartProps) {
  const rows = foldRest(spending);
  const most = Math.max(1, ...rows.map(({ credits }) => credits));
  return (
    <table class="spending">
      <thead class="unseen">
        <tr>
          <th scope="col">{t("App")}</th>
          <th scope="col">{t("Share")}</th>
          <th scope="col">{t("Credits")}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ app_slug, credits, jobs, rest }) => (
          <tr>
            <th scope="row">
              {rest === undefined ? appName(app_slug) : counted(rest, "other app", "other apps")}
              <span class="hint">{counted(jobs, "job", "jobs")}</span>
            </th>
            <td class="spending-bar">
              <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
                <rect class="bar-track" width="100" height="8" />
                <rect class="bar-fill" width={Math.max(1, (credits / most) * 100)} height="8" />
              </svg>
            </td>
            <td class="amount">{number(credits)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The first apps, and all others combined in one row; `rest` is the number of those. */
function foldRest(
  spending: readonly AppSpending[],
): readonly (AppSpending & { readonly rest?: number })[] {
  if (spending.length <= BARS_MAX) return spending;
  const rest = spending.slice(BARS_MAX - 1);
  const sum = (of: (it: AppSpending) => number): number =>
    rest.reduce((total, it) => total + of(it), 0);
  const folded = { app_slug: null, credits: sum((it) => it.credits), jobs: sum((it) => it.jobs) };
  return [...spending.slice(0, BARS_MAX - 1), { ...folded, rest: rest.length }];
}
