/** Times for people: in UTC, until `times.js` puts them into the reader's own zone. */

const STYLES = {
  day: { dateStyle: "medium" },
  date: { day: "numeric", month: "short" },
  minute: { dateStyle: "medium", timeStyle: "short" },
  clock: { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

export type TimeStyle = keyof typeof STYLES;

export function Time({ at_ms, style = "minute" }: { at_ms: number; style?: TimeStyle }) {
  const at = new Date(at_ms);
  const format = new Intl.DateTimeFormat("en-GB", { ...STYLES[style], timeZone: "UTC" });
  return (
    <time datetime={at.toISOString()} data-shown={style}>
      {format.format(at)}
    </time>
  );
}

/** Which zone the times above or below are in. */
export function Zone() {
  return (
    <p class="zone">
      Times are in <span data-zone>UTC</span>.
    </p>
  );
}
