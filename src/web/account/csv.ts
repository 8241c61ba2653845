/** Comma-separated values (RFC 4180) that no spreadsheet takes for a formula. */

/** What spreadsheets read as the beginning of a formula, in half and full width. */
const FORMULA = /^[\s]*[=+\-@\t\r\n＝＋－＠]/u;

/** A row: numbers as they are, text in quotes, what could be a formula behind an apostrophe. */
export function csvRow(cells: readonly (string | number | null)[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

function csvCell(cell: string | number | null): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return `"${text.replaceAll('"', '""')}"`;
}
