/** Credits with terms, as lists of account pages and of the console show them. */
import type { Lot } from "../../domain/lots.ts";
import { credits, number } from "./labels.ts";
import { Time } from "./time.tsx";

/** The order in which jobs use credits, in one sentence. */
const ORDER_OF_USE =
  "Jobs use what expires first; then credits for their own app before credits for all; then given credits before bought ones; then the oldest.";

interface LotListProps {
  /** In the order of use. */
  readonly lots: readonly Lot[];
  readonly appName: (slug: string | null) => string;
}

/** What expires when, and what only some apps can use. Nothing if the account has no such credits. */
export function LotList({ lots, appName }: LotListProps) {
  if (lots.length === 0) return null;
  return (
    <div class="lots">
      <p id="lots-name">Of these, with an end or for some apps only:</p>
      <ul aria-labelledby="lots-name">
        {lots.map((lot) => (
          <li>
            <strong>{credits(lot.left)}</strong> <Terms lot={lot} appName={appName} />
            {lot.note === null ? "" : <> · {lot.note}</>}
            {lot.held === 0 ? "" : `. ${number(lot.held)} more held: these do not expire`}
          </li>
        ))}
      </ul>
      <p class="hint">{ORDER_OF_USE} The statement shows what has expired.</p>
    </div>
  );
}

function Terms({ lot, appName }: { lot: Lot } & Pick<LotListProps, "appName">) {
  const { expires_at_ms, app_slugs, bought, origin } = lot;
  const of_job = origin === "returned" ? ", returned by a job after their end" : "";
  return (
    <>
      {expires_at_ms === null ? (
        "without end"
      ) : (
        <>
          until <Time at_ms={expires_at_ms} />
        </>
      )}
      {app_slugs === null ? "" : `, only in ${app_slugs.map(appName).join(", ")}`}
      {bought ? ", bought" : ""}
      {of_job}
    </>
  );
}
