/** A page of a guide that uses React, built as an app's own build does. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "vite";

/** The script of a page. `folder` has the packages that the code imports. */
export async function bundleReactPage(folder: string, code: string): Promise<string> {
  const input = join(folder, "page.jsx");
  await writeFile(input, code);
  const built = await build({
    root: folder,
    configFile: false,
    logLevel: "error",
    build: { write: false, minify: false, rollupOptions: { input } },
  });
  const [output] = [built].flat();
  const [script] = output !== undefined && "output" in output ? output.output : [];
  if (script?.type !== "chunk") throw new Error("Vite built nothing.");
  return script.code;
}
