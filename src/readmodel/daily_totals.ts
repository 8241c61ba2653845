/**
 * Totals by UTC day, from the rows that the read model keeps: right for the days of which it has every
 * row. Purchases and adjustments leave no row there and are 0.
 */

/** One day. Sums in credits, without sign but `adjusted`. */
export interface DailyTotals {
  readonly day: string;
  readonly granted: number;
  readonly reserved: number;
  readonly settled: number;
  readonly refunded: number;
  readonly purchased: number;
  readonly adjusted: number;
  readonly jobs: number;
  readonly failed: number;
  readonly active_accounts: number;
}

const DAY_MS = 86_400_000;

/** ?1, ?2: whole days since the epoch, half-open; ?3: an app, null: all. A day of nothing is left out. */
export const DAILY_TOTALS = `with lines as (
    select granted_at_ms / ${DAY_MS} as day, account_id, app_slug, amount as granted, 0 as reserved,
      0 as settled, 0 as refunded, 0 as jobs, 0 as failed from grants
    union all
    select created_at_ms / ${DAY_MS}, account_id, app_slug, 0, reserved, 0, 0, 1, 0 from jobs
    union all
    select updated_at_ms / ${DAY_MS}, account_id, app_slug, 0, 0, actual_cost,
      case when status = 'failed' and actual_cost = 0 then reserved else 0 end,
      0, status = 'failed'
    from jobs where status <> 'started')
  select date(day * 86400, 'unixepoch') as day, sum(granted) as granted, sum(reserved) as reserved,
    sum(settled) as settled, sum(refunded) as refunded, 0 as purchased, 0 as adjusted,
    sum(jobs) as jobs, sum(failed) as failed, count(distinct account_id) as active_accounts
  from lines where day >= ?1 and day < ?2 and (?3 is null or app_slug = ?3)
  group by day order by day`;
