/** The code of a page of `docs`, and a shell that runs it as written. */
import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";

/** The code blocks of a page in one of these languages, such as `sh|js`; with `section`, those below that heading. */
export function blocksOf(file: string, languages: string, section?: string): readonly string[] {
  const page = readFileSync(file, "utf8");
  const part =
    section === undefined
      ? page
      : page.split(/^## /m).find((text) => text.startsWith(`${section}\n`));
  if (part === undefined) throw new Error(`${file} has no section “${section}”.`);
  const blocks = part.matchAll(new RegExp(`^\`\`\`(?:${languages})\\n([^]*?)^\`\`\``, "gm"));
  return [...blocks].map(([, block = ""]) => block);
}

const PATIENCE_MS = 60_000;

export interface Shell {
  readonly child: ChildProcess;
  /** What it has printed so far. */
  output(): string;
  /** Waits until its output matches. @throws Error with the output if it ends before, or after a minute */
  heard(pattern: RegExp): Promise<RegExpExecArray>;
  /** Waits for its end, and returns its output. @throws Error with the output if a command failed */
  done(): Promise<string>;
}

/** Runs commands in bash, up to the first that fails. */
export function runShell(
  commands: string,
  options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
): Shell {
  const child = spawn("bash", ["-ec", commands], options);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  }
  const ended = new Promise<number | null>((exited) => child.once("close", exited));
  const failed = (why = "It ended"): Error => new Error(`${why}:\n${output}`);
  return {
    child,
    output: () => output,
    heard: (pattern) =>
      new Promise((found, ended_before) => {
        const look = (): void => {
          const match = pattern.exec(output);
          if (match !== null) found(match);
        };
        look();
        for (const stream of [child.stdout, child.stderr]) stream.on("data", look);
        void ended.then(() => ended_before(failed()));
        const late = () => ended_before(failed(`It does not print ${String(pattern)}`));
        setTimeout(late, PATIENCE_MS).unref();
      }),
    async done() {
      if ((await ended) !== 0) throw failed();
      return output;
    },
  };
}
