/** A statement's rows by day, each with its entries folded away. */
import type { CountedEntry, StatementRow } from "../../account/contract.ts";
import { utcDayOf } from "../../domain/calendar.ts";
import { t } from "../language/text.tsx";
import { number } from "../layout/labels.ts";
import { Time } from "../layout/time.tsx";
import { AppIcon, type AppLooks } from "../layout/app_icon.tsx";
import { jobPath } from "./job_rows.tsx";
import { By, ByLink } from "./started_by.tsx";
import { rowTexts, stepText } from "./statement_texts.ts";

export interface StatementListProps {
  readonly rows: readonly StatementRow[];
  readonly appLook: AppLooks;
}

/** One list, whose items are rows and the names of days: `scripts/times.js` moves these to the reader's midnight. */
export function StatementList({ rows, appLook }: StatementListProps) {
  const days = rows.map(({ entries }) => utcDayOf(entries[0]?.at_ms ?? 0));
  return (
    <ul class="movements" id="movements" data-days data-live-list>
      {rows.map((row, at) => (
        <>
          {days[at] === days[at - 1] ? null : (
            <li class="day">
              <h3>
                <Time at_ms={row.entries[0]?.at_ms ?? 0} style="weekday" />
              </h3>
              <span class="after" aria-hidden="true">
                {t("Balance")}
              </span>
            </li>
          )}
          <Row row={row} appLook={appLook} />
        </>
      ))}
    </ul>
  );
}

function Row({ row, appLook }: { row: StatementRow } & Pick<StatementListProps, "appLook">) {
  const { job, entries } = row;
  const [newest] = entries;
  if (newest === undefined) return null;
  const look = newest.app_slug === null ? null : appLook(newest.app_slug);
  const { title, about, amount, tone } = rowTexts(row, look?.name ?? null);
  const id = job === null ? `entry-${newest.line}` : `job-${job.id}`;
  return (
    <li id={id} data-live>
      <details>
        <summary class="movement">
          {look === null ? <span class="no-icon"></span> : <AppIcon look={look} size={28} />}
          <span class="what">{title}</span>
          <span class="about">
            <Time at_ms={newest.at_ms} style="time" />
            {about === "" ? null : ` · ${about}`}
            <By job={job} before=" · " />
          </span>
          <span class={`amount is-${tone}`}>{amount}</span>
          <span class="after">
            <span class="unseen">{`, ${t("balance")} `}</span>
            {number(newest.balance_after)}
          </span>
        </summary>
        <Steps entries={entries} />
        {job === null ? null : (
          <p>
            <ByLink job={job} />
            <a href={jobPath(job.id)}>
              {t("Open this job")}
              <span class="unseen">{`: ${title}`}</span>
            </a>
          </p>
        )}
      </details>
    </li>
  );
}

/** The effect of each entry of a row, and the balance after it. Without classes, because a page has up to fifty of it. */
export function Steps({ entries }: { entries: readonly CountedEntry[] }) {
  return (
    <table class="steps">
      <thead>
        <tr>
          <th>{t("When")}</th>
          <th>{t("What")}</th>
          <th>{t("Balance after")}</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <tr>
            <td>
              <Time at_ms={entry.at_ms} style="clock" />
            </td>
            <td>{stepText(entry)}</td>
            <td>{number(entry.balance_after)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
