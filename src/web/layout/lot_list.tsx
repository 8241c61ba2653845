/** Credits with terms, as lists of account pages and of the console show them. */
import type { Lot } from "../../domain/lots.ts";
import { rich, t, type PlainText } from "../language/text.tsx";
import { credits, number } from "./labels.ts";
import { Time } from "./time.tsx";

/** The order in which jobs use credits, in one sentence. */
const ORDER_OF_USE: PlainText =
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
      <p id="lots-name">{t("Of these, with an end or for some apps only:")}</p>
      <ul aria-labelledby="lots-name">
        {lots.map((lot) => (
          <li>
            <strong>{credits(lot.left)}</strong> <Terms lot={lot} appName={appName} />
            {lot.note === null ? "" : <> · {lot.note}</>}
            {lot.held === 0
              ? ""
              : `. ${t("{count} more held: these do not expire", { count: number(lot.held) })}`}
          </li>
        ))}
      </ul>
      <p class="hint">
        {t(ORDER_OF_USE)} {t("The statement shows what has expired.")}
      </p>
    </div>
  );
}

function Terms({ lot, appName }: { lot: Lot } & Pick<LotListProps, "appName">) {
  const { expires_at_ms, app_slugs, bought, origin } = lot;
  const further = [
    app_slugs === null ? null : t("only in {apps}", { apps: app_slugs.map(appName).join(", ") }),
    bought ? t("bought") : null,
    origin === "returned" ? t("returned by a job after their end") : null,
  ].filter((it) => it !== null);
  return (
    <>
      {expires_at_ms === null
        ? t("without end")
        : rich("until {time}", { time: <Time at_ms={expires_at_ms} /> })}
      {further.map((it) => `, ${it}`)}
    </>
  );
}
