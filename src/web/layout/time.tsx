/** Dates and times in UTC; `times.js` changes them to the reader's time zone. */
import { t, template } from "../language/text.tsx";
import { currentLocale } from "./shell.ts";

const STYLES = {
  day: { dateStyle: "medium" },
  date: { day: "numeric", month: "short" },
  minute: { dateStyle: "medium", timeStyle: "short" },
  time: { hour: "2-digit", minute: "2-digit" },
  long_date: { day: "numeric", month: "long" },
  long_day: { dateStyle: "long" },
  weekday: { weekday: "short", day: "numeric", month: "short" },
  clock: { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

type TimeStyle = keyof typeof STYLES;

const MONTH = { month: "long", year: "numeric" } as const;

/** Created on first use: loading the locale takes a third of a cold start. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** A formatted time in UTC. */
export function timeText(at_ms: number, style: TimeStyle | "month"): string {
  const locale = currentLocale();
  const known = formats.get(`${locale} ${style}`);
  if (known !== undefined) return known.format(at_ms);
  const options = style === "month" ? MONTH : STYLES[style];
  const format = new Intl.DateTimeFormat(locale, { ...options, timeZone: "UTC" });
  formats.set(`${locale} ${style}`, format);
  return format.format(at_ms);
}

export function Time({ at_ms, style = "minute" }: { at_ms: number; style?: TimeStyle }) {
  return (
    <time datetime={`${new Date(at_ms).toISOString().slice(0, 19)}Z`} data-shown={style}>
      {timeText(at_ms, style)}
    </time>
  );
}

/** Names the time zone of the page's times. The script shows a button that changes between the reader's zone and UTC. */
export function Zone({ note = "" }: { note?: string }) {
  return (
    <p class="zone">
      {t("Times are in")} <span data-zone>UTC</span>. {note}{" "}
      <button
        type="button"
        class="plain"
        data-zone-switch={template("Show {zone}")}
        hidden
      ></button>
    </p>
  );
}
