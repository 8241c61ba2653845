/** The pages of the manual, which are static files of the Worker; `commands/manual.ts` writes them. */
import * as z from "zod/mini";

/** A page of the manual. `html` is trusted: it is made from `docs` when the Worker is built. */
const manualPage = z.object({ title: z.string(), html: z.string() });
export type ManualPage = z.output<typeof manualPage>;

/** Reads a page by its name, such as `operate`; null: there is no such page. @throws if the file cannot be read. */
export type ReadManual = (name: string) => Promise<ManualPage | null>;

export function createManual(assets: Fetcher): ReadManual {
  return async (name) => {
    if (!/^[a-z][a-z-]*$/.test(name)) return null;
    // The binding serves files by path and ignores the host.
    const response = await assets.fetch(`https://assets/manual/${name}.json`);
    if (response.status === 404) return null;
    return manualPage.parse(await response.json());
  };
}
