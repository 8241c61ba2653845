/**
 * `npm run openapi`: writes the OpenAPI document from the schemas that validate. With `-- --check` it
 * writes nothing, and exits with 1 where the committed file is not current.
 */
import { readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { runnerImport } from "vite";

const FILE = "src/http/openapi/openapi.json";

const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
// Through vite, since the routes beside the schemas import pages, which are JSX.
const { module } = await runnerImport<{ openApiDocument(): object }>(
  "./src/http/openapi/document.ts",
);
const text = `${JSON.stringify(module.openApiDocument(), null, 2)}\n`;

if (!values.check) {
  await writeFile(FILE, text);
} else if ((await readFile(FILE, "utf8").catch(() => "")) !== text) {
  console.error(`${FILE} is not what the schemas say. Run: npm run openapi`);
  process.exitCode = 1;
}
