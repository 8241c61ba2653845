/** `NAME='value'` lines of settings, as `.dev.vars` has them. A value in quotes may span lines. */

/** A comment begins with `#`, so it is not matched. */
const LINE =
  /^[ \t]*(?:export[ \t]+)?([A-Z_][A-Z0-9_]*)[ \t]*=[ \t]*('[^']*'(?=[ \t]*(?:#.*)?$)|.*)/gm;

/** All settings of a text; of a name that is set twice, the last value counts. */
export function readLines(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...text.matchAll(LINE)].map(([, name = "", value = ""]) => [name, withoutQuotes(value)]),
  );
}

/** The same lines with another value of a setting. Replaces the last line that sets it, else adds one. */
export function withLine(text: string, name: string, value: string): string {
  // A quote inside would end the value. Only JSON is written, where it may be escaped.
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
