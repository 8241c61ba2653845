/** Output of the command line: tables for people, JSON for programs. */

/** Text from other people, without control characters that a terminal would obey. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "�");
}

/** Ends the program if the reader of its output has closed the pipe: `passbook jobs | head -1`. */
export function exitOnClosedOutput(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit();
    throw error;
  });
  // A closed stderr must not stop the command.
  process.stderr.on("error", () => {});
}

/** Prints a value: as JSON with `--json`, otherwise as text. */
export function print(
  options: { readonly json?: boolean },
  value: unknown,
  text: () => string,
): void {
  process.stdout.write(`${options.json ? JSON.stringify(value, null, 2) : text()}\n`);
}

/** The line after a page that has a next one. */
export function more(next_cursor: string | undefined): string {
  return next_cursor === undefined ? "" : `\n\nMore: --cursor ${plain(next_cursor)}`;
}

/** A table. Each column is as wide as its widest cell. */
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

/** Shows a spinner on a terminal. @returns a function that removes it */
export function spin(stream: NodeJS.WriteStream, text: string): () => void {
  if (!stream.isTTY) return () => {};
  const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
  let count = 0;
  const draw = (): void => {
    stream.write(`\r${frames[count % frames.length]} ${text}`);
    count += 1;
  };
  draw();
  const timer = setInterval(draw, 100);
  return () => {
    clearInterval(timer);
    stream.write("\r\u001B[K");
  };
}

/** Writes a text that arrives in pieces. Waits for a slow reader, such as a pipe, so that it is not kept in memory. */
export async function writePieces(pieces: AsyncIterable<string>): Promise<void> {
  for await (const text of pieces) {
    if (!process.stdout.write(text))
      await new Promise((done) => process.stdout.once("drain", done));
  }
}
