/**
 * `npm run openapi`: writes the OpenAPI document from the schemas that validate, and from the document the client's types
 * and operators' calls, and the types and calls of the Python client. With `-- --check` it writes nothing, and exits
 * with 1 if a committed file is out of date.
 */
import { readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { format } from "oxfmt";
import { runnerImport, type Plugin } from "vite";
import { clientTypes } from "./client_types.ts";
import { operatorCalls } from "./operator_calls.ts";
import { pythonClient, type Operations } from "./python_calls.ts";

const DOCUMENT_FILE = "docs/openapi.json";
const PYTHON_FOLDER = "clients/python/passbook_client";
const TYPES_FILE = "src/client/responses.ts";
const OPERATORS_FILE = "src/client/admin/operator_calls.ts";

const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
const TEXT = "\0text";

/** In the Worker, wrangler.toml makes these files text. The document does not need what they contain. */
const text_files: Plugin = {
  name: "text-files",
  enforce: "pre",
  resolveId: (source) => (/\.(css|svg|browser\.js)$/.test(source) ? TEXT : null),
  load: (id) => (id === TEXT ? 'export default "";' : null),
};

// Vite compiles JSX: the routes next to the schemas import pages.
const { module } = await runnerImport<{ openApiDocument(): object }>(
  "./src/http/openapi/document.ts",
  { plugins: [text_files] },
);
const document_text = `${JSON.stringify(module.openApiDocument(), null, 2)}\n`;
const document = JSON.parse(document_text) as Operations;
const python = pythonClient(document);
const operators = operatorCalls(document);

const files = {
  [DOCUMENT_FILE]: document_text,
  [TYPES_FILE]: await formatted(clientTypes(document.components.schemas, document.paths)),
  // One operation a line: the formatter would make it five times as long.
  [OPERATORS_FILE]: (await formatted(operators.types)) + operators.table,
  [`${PYTHON_FOLDER}/types.py`]: python.types,
  [`${PYTHON_FOLDER}/calls.py`]: python.calls,
  [`${PYTHON_FOLDER}/async_calls.py`]: python.async_calls,
};
for (const [file, text] of Object.entries(files)) {
  if (!values.check) {
    await writeFile(file, text);
  } else if ((await readFile(file, "utf8").catch(() => "")) !== text) {
    console.error(`${file} does not match the schemas. Run: npm run openapi`);
    process.exitCode = 1;
  }
}

async function formatted(text: string): Promise<string> {
  const { printWidth } = JSON.parse(await readFile(".oxfmtrc.json", "utf8")) as {
    printWidth: number;
  };
  const { code, errors } = await format(TYPES_FILE, text, { printWidth });
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join("\n"));
  return code;
}
