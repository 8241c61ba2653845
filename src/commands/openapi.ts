/**
 * `npm run openapi`: writes the OpenAPI document from the schemas that validate. With `-- --check` it
 * writes nothing, and exits with 1 where the committed file is not current.
 */
import { readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { runnerImport, type Plugin } from "vite";

const FILE = "docs/openapi.json";

const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
const TEXT = "\0text";

/** The pages' files are text to the Worker, as wrangler.toml says; the document needs none of them. */
const text_files: Plugin = {
  name: "text-files",
  enforce: "pre",
  resolveId: (source) => (/\.(css|svg|browser\.js)$/.test(source) ? TEXT : null),
  load: (id) => (id === TEXT ? 'export default "";' : null),
};

// Through vite, since the routes beside the schemas import pages, which are JSX.
const { module } = await runnerImport<{ openApiDocument(): object }>(
  "./src/http/openapi/document.ts",
  { plugins: [text_files] },
);
const text = `${JSON.stringify(module.openApiDocument(), null, 2)}\n`;

if (!values.check) {
  await writeFile(FILE, text);
} else if ((await readFile(FILE, "utf8").catch(() => "")) !== text) {
  console.error(`${FILE} is not what the schemas say. Run: npm run openapi`);
  process.exitCode = 1;
}
