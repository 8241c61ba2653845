/** What the command line prints: tables for people, JSON for programs. */

/** Text of others' making, without what a terminal would obey. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "�");
}

/** Ends the program, as other programs do, when its reader has gone: `passbook jobs | head -1`. */
export function stopWhenNobodyReads(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit();
    throw error;
  });
  // Who does not hear what goes on still wants it done.
  process.stderr.on("error", () => {});
}

/** Prints a value: as JSON where that was asked for, else in words. */
export function print(
  options: { readonly json?: boolean },
  value: unknown,
  words: () => string,
): void {
  process.stdout.write(`${options.json ? JSON.stringify(value, null, 2) : words()}\n`);
}

/** What follows a page that has a next one. */
export function more(next_cursor: string | undefined): string {
  return next_cursor === undefined ? "" : `\n\nMore: --cursor ${plain(next_cursor)}`;
}

/** Columns under their names, as wide as their widest cell. */
export function table(names: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [names, ...rows.map((row) => row.map(plain))];
  const widths = names.map((_, at) => Math.max(...cells.map((row) => (row[at] ?? "").length)));
  return cells
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** A spinner on a terminal; elsewhere nothing. `stop` clears it. */
export function spin(stream: NodeJS.WriteStream, words: string): () => void {
  if (!stream.isTTY) return () => {};
  const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
  let turn = 0;
  const draw = (): void => {
    stream.write(`\r${frames[turn % frames.length]} ${words}`);
    turn += 1;
  };
  draw();
  const timer = setInterval(draw, 100);
  return () => {
    clearInterval(timer);
    stream.write("\r\u001B[K");
  };
}
