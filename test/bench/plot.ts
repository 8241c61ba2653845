/** A bar chart as SVG: one group for each row, one bar for each contender, and a line for its range. */

export interface Bar {
  readonly group: string;
  readonly series: string;
  readonly value: number;
  readonly least: number;
  readonly greatest: number;
}

const BAR_HEIGHT = 11;
const GROUP_GAP = 12;
const LABEL_WIDTH = 210;
const PLOT_WIDTH = 560;
const VALUE_WIDTH = 70;
const TOP = 76;

const COLOURS: Readonly<Record<string, string>> = {
  passbook: "#2458c5",
  floor: "#8a94a6",
  peer: "#2d8f6f",
  "d1 lock": "#c9822b",
};

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

function text(x: number, y: number, content: string, attributes = ""): string {
  return `<text x="${x}" y="${y}" ${attributes}>${escaped(content)}</text>`;
}

function drawBar(bar: Bar, y: number, scale: (value: number) => number): string {
  const end = LABEL_WIDTH + scale(bar.value);
  const middle = y + BAR_HEIGHT / 2;
  const [from, to] = [LABEL_WIDTH + scale(bar.least), LABEL_WIDTH + scale(bar.greatest)];
  const colour = COLOURS[bar.series] ?? "#666";
  const width = (end - LABEL_WIDTH).toFixed(1);
  return [
    `<rect x="${LABEL_WIDTH}" y="${y}" width="${width}" height="${BAR_HEIGHT - 2}" fill="${colour}"/>`,
    `<path d="M${from.toFixed(1)} ${middle - 1}H${to.toFixed(1)}" stroke="#111"/>`,
    text(Math.max(end, to) + 4, y + 8, Math.round(bar.value).toLocaleString("en")),
  ].join("");
}

function legend(series: readonly string[]): string {
  return series
    .map((name, index) => {
      const x = LABEL_WIDTH + index * 110;
      return `<rect x="${x}" y="52" width="10" height="10" fill="${COLOURS[name] ?? "#666"}"/>${text(x + 15, 61, name)}`;
    })
    .join("");
}

/** Draws `bars` in their order, grouped. */
export function plot(title: string, subtitle: string, bars: readonly Bar[]): string {
  const greatest = Math.max(...bars.map((bar) => bar.greatest));
  const scale = (value: number): number => (value / greatest) * PLOT_WIDTH;
  const drawn: string[] = [];
  let y = TOP;
  let group: string | null = null;
  for (const bar of bars) {
    if (bar.group !== group) {
      y += group === null ? 0 : GROUP_GAP;
      drawn.push(text(LABEL_WIDTH - 8, y + 9, bar.group, 'text-anchor="end" font-weight="600"'));
      group = bar.group;
    }
    drawn.push(drawBar(bar, y, scale));
    y += BAR_HEIGHT;
  }
  const width = LABEL_WIDTH + PLOT_WIDTH + VALUE_WIDTH;
  const series = [...new Set(bars.map((bar) => bar.series))];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${y + 20}" role="img"
  viewBox="0 0 ${width} ${y + 20}" font-family="system-ui, sans-serif" font-size="10" fill="#111">
<title>${escaped(title)}</title>
<rect width="100%" height="100%" fill="#fff"/>
${text(12, 22, title, 'font-size="15" font-weight="600"')}
${text(12, 40, subtitle)}
${legend(series)}
${drawn.join("\n")}
</svg>
`;
}
