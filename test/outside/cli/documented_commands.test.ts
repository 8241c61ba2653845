/** The commands that the docs print exist, with their options. */
import { globSync, readFileSync } from "node:fs";
import type { Command } from "commander";
import { expect, it } from "vitest";
import { createProgram } from "../../../src/cli/program.ts";

const FILES = [
  "README.md",
  "CHANGELOG.md",
  ...globSync([
    "docs/**/*.md",
    "examples/*.md",
    "src/client/README.md",
    "clients/python/README.md",
  ]),
];

/** The commands of a page: in code blocks, whose lines may continue with a backslash, and in sentences. */
function commandsOf(page: string): readonly string[] {
  const [shell, prose] = [
    [...page.matchAll(/```sh\n(.*?)```/gs)],
    page.replaceAll(/```.*?```/gs, ""),
  ];
  const lines = shell.flatMap(([, block = ""]) =>
    block.replaceAll("\\\n", " ").split(/\n|&&|\| */),
  );
  const inline = [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code);
  return [...lines, ...inline]
    .map((line) => line.replace(/^\s*(?:xargs )?(?:npx --no )?/, ""))
    .filter((line) => /^passbook [a-z-]/.test(line) && !line.includes("…"));
}

/** What is wrong with a command; null if nothing is. */
function problemOf(line: string): string | null {
  const words =
    line
      .replace(/\s#.*/, "")
      .match(/"[^"]*"|'[^']*'|\S+/g)
      ?.slice(1) ?? [];
  let command: Command = createProgram("0", { json: false });
  const chain = [command];
  for (const word of words) {
    if (word === "--") break;
    if (word.startsWith("--")) {
      const name = word.split("=")[0];
      const known = chain.some(({ options }) => options.some(({ long }) => long === name));
      if (!known && name !== "--help") return `${line}: ${command.name()} has no option ${name}`;
      continue;
    }
    const next = command.commands.find((it) => it.name() === word);
    if (next !== undefined) {
      command = next;
      chain.push(next);
    } else if (command.commands.length > 0 && command.registeredArguments.length === 0) {
      return `${line}: ${command.name()} has no command ${word}`;
    }
  }
  return null;
}

it("every command of passbook that the docs print exists, with its options", () => {
  const commands = FILES.flatMap((file) => commandsOf(readFileSync(file, "utf8")));
  expect(commands.length).toBeGreaterThan(50);
  expect(commands.map(problemOf).filter((problem) => problem !== null)).toEqual([]);
});
