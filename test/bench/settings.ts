/** The settings of local development as values, with enough credits for any run. */
import { developmentSettings } from "../../src/commands/development_settings.ts";

/** Creates new keys on each call. */
export async function runSettings(): Promise<Record<string, string>> {
  const lines = (await developmentSettings()).split("\n");
  const values = lines.flatMap((line): [string, string][] => {
    const [, name, value] = /^([A-Z_]+)='?(.*?)'?$/.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value]];
  });
  return { ...Object.fromEntries(values), DEFAULT_STARTER_CREDITS: "1000000" };
}
