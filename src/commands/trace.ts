/**
 * `npm run -s trace -- [--map <file>] [<file>]`
 *
 * Names the places in the source for a stack trace of the bundle. Reads a log entry or a stack trace from a file or from
 * standard input. Without `--map` it bundles the code that is checked out, so check out the released commit first.
 */
import { readFile } from "node:fs/promises";
import { SourceMap } from "node:module";
import { basename, join } from "node:path";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { bundle } from "./bundle.ts";

const FOLDER = ".wrangler/build";
const MAP = join(FOLDER, "worker.js.map");

const { values, positionals } = parseArgs({
  options: { map: { type: "string" } },
  allowPositionals: true,
});

type MapFile = ConstructorParameters<typeof SourceMap>[0];

/** The place in the source, and its line; null: the bundler wrote this place itself. */
function findSource(
  map: SourceMap,
  { sources, sourcesContent }: MapFile,
  [line, column]: readonly [number, number],
): string | null {
  const origin = map.findOrigin(line, column);
  if (!("fileName" in origin)) return null;
  const { fileName, lineNumber, columnNumber } = origin;
  const path = fileName.replace(/^(?:\.\.\/)+/, "");
  const content = sourcesContent[sources.indexOf(fileName)] ?? "";
  const code = content.split("\n")[lineNumber - 1]?.trim() ?? "";
  return `${path}:${lineNumber}:${columnNumber} [${code}]`;
}

async function main(): Promise<void> {
  const [input] = positionals;
  const trace = input === undefined ? await text(process.stdin) : await readFile(input, "utf8");
  const file = values.map ?? MAP;
  const module = basename(file, ".map");
  const place = new RegExp(`[^\\s"'(]*\\b${module.replaceAll(".", "\\.")}:(\\d+):(\\d+)`, "g");
  if (!place.test(trace)) {
    throw new Error(
      `The input has no place of the bundle, such as ${module}:3:1024. Paste the "stack" of a log entry.`,
    );
  }
  if (values.map === undefined) await bundle([], FOLDER);
  const parsed = JSON.parse(await readFile(file, "utf8")) as MapFile;
  const map = new SourceMap(parsed);
  const readable = trace.replaceAll(
    place,
    (written, line, column) => findSource(map, parsed, [Number(line), Number(column)]) ?? written,
  );
  process.stdout.write(readable);
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});
