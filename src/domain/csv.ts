/** Rows of comma-separated values (RFC 4180). */

/** Characters that a spreadsheet takes for the start of a formula, in half and full width. */
const FORMULA = /^[\s]*[=+\-@\t\r\n＝＋－＠]/u;

/** Text is quoted. Text that a spreadsheet would run as a formula gets an apostrophe in front. */
export function csvRow(cells: readonly (string | number | null)[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

function csvCell(cell: string | number | null): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return `"${text.replaceAll('"', '""')}"`;
}
