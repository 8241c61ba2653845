/** `NAME='value'` lines of settings, as in `.dev.vars`. A quoted value may span lines. */

/** Does not match comments, which begin with `#`. */
const LINE =
  /^[ \t]*(?:export[ \t]+)?([A-Z_][A-Z0-9_]*)[ \t]*=[ \t]*('[^']*'(?=[ \t]*(?:#.*)?$)|.*)/gm;

/** All settings of a text. If a name is set twice, the last value counts. */
export function readLines(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...text.matchAll(LINE)].map(([, name = "", value = ""]) => [name, withoutQuotes(value)]),
  );
}

/** The lines with a new value for a setting. Replaces the last line that sets it, or adds a line. */
export function withLine(text: string, name: string, value: string): string {
  // A quote would end the value. Values are JSON, which can escape it.
  const line = `${name}='${value.replaceAll("'", "\\u0027")}'`;
  const before = [...text.matchAll(LINE)].findLast((match) => match[1] === name);
  if (before !== undefined) {
    return text.slice(0, before.index) + line + text.slice(before.index + before[0].length);
  }
  const gap = text === "" || text.endsWith("\n") ? "" : "\n";
  return `${text}${gap}${line}\n`;
}

function withoutQuotes(value: string): string {
  return value.trim().replace(/^(['"])(.*)\1$/s, "$2");
}
