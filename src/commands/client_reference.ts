/**
 * The reference of the client, read from its source by TypeScript's own API: every export of every entry of the package,
 * with its docstring and its declaration.
 */
import { join, resolve } from "node:path";
import { API, type Project, type Symbol } from "typescript/unstable/sync";
import type { Node } from "typescript/unstable/ast";
import { PACKAGE_ENTRIES, PACKAGE_NAME } from "./package_entries.ts";

/** An entry of the package. */
export interface ReferenceEntry {
  /** What an app imports, such as `passbook-client/react`. */
  readonly specifier: string;
  /** The docstring of its module. */
  readonly docs: string;
  readonly exports: readonly ReferenceExport[];
}

/** An export. Texts are Markdown. */
export interface ReferenceExport {
  readonly name: string;
  readonly docs: string;
  /** Such as `throws` and `example`, with their texts. */
  readonly tags: readonly { readonly name: string; readonly text: string }[];
  /** The declaration as TypeScript, without bodies, with the docstrings of its members. */
  readonly code: string;
}

/** The settings that the package is built with. */
const PROJECT = "tsconfig.package.json";

/** TypeScript's flags, whose enumerations are no part of a module that Node can load without a build. */
const SYMBOL_ALIAS = 2_097_152;
const TYPE_WITHOUT_TRUNCATION = 1;

/** All entries, in the order of their list. */
export function readClientReference(): readonly ReferenceEntry[] {
  const api = new API({ cwd: process.cwd() });
  try {
    const project = api.updateSnapshot({ openProject: resolve(PROJECT) }).getProject(PROJECT);
    if (project === undefined) throw new Error(`TypeScript cannot open ${PROJECT}.`);
    return Object.entries(PACKAGE_ENTRIES).map(([entry, file]) =>
      readEntry(project, join(PACKAGE_NAME, entry), resolve("src", `${file}.ts`)),
    );
  } finally {
    api.close();
  }
}

function readEntry(project: Project, specifier: string, path: string): ReferenceEntry {
  const { checker, program } = project;
  const file = program.getSourceFile(path);
  const module = file === undefined ? undefined : checker.getSymbolAtLocation(file);
  if (file === undefined || module === undefined) throw new Error(`${path} exports nothing.`);
  const [, comment = ""] = /^(?:"use client";\s*)?\/\*\*([^]*?)\*\//.exec(file.text) ?? [];
  const exports = checker.getExportsOfModule(module).map((symbol) => readExport(project, symbol));
  return {
    specifier,
    docs: comment.replaceAll(/^ *\* ?/gm, "").trim(),
    exports: exports.toSorted((one, other) => one.name.localeCompare(other.name, "en")),
  };
}

function readExport(project: Project, symbol: Symbol): ReferenceExport {
  const { checker } = project;
  const target = (symbol.flags & SYMBOL_ALIAS) === 0 ? symbol : checker.getAliasedSymbol(symbol);
  const nodes = target.declarations.map((handle) => handle.resolve(project));
  const code = nodes.map((node) => (node === undefined ? "" : codeOf(project, target, node)));
  return {
    name: symbol.name,
    docs: target.getDocumentationComment(checker),
    tags: target.getJsDocTags(checker).map(({ name, text = "" }) => ({ name, text })),
    code: code.join("\n"),
  };
}

/** A node that has a body, or members that may have one. */
type Declared = Node & { readonly body?: Node; readonly members?: readonly Declared[] };

function codeOf({ checker }: Project, symbol: Symbol, node: Declared): string {
  const { text } = node.getSourceFile();
  const bodies = node.body === undefined ? bodiesOf(node) : [node.body];
  let code = "";
  let from = node.getStart();
  for (const body of bodies) {
    code += `${text.slice(from, body.getStart()).trimEnd()};`;
    from = body.end;
  }
  code += text.slice(from, node.end);
  if (/^(?:export )?(?:async )?(?:function|interface|type|class|abstract)\b/.test(code)) {
    return code.replace(/^export (?:async )?/, "");
  }
  const type = checker.getTypeOfSymbol(symbol);
  const shown = type && checker.typeToString(type, undefined, TYPE_WITHOUT_TRUNCATION);
  return `const ${symbol.name}: ${shown ?? "unknown"};`;
}

const bodiesOf = ({ members = [] }: Declared): Node[] =>
  members.flatMap(({ body }) => (body === undefined ? [] : [body]));
