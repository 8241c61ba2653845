/** React as modules for browsers, which its package does not contain. Content networks serve such modules. */
import { mkdir, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { build } from "vite";

const ENTRIES = {
  react: `import React from "react";
export default React;
export const { createContext, createElement, StrictMode, useContext, useEffect, useMemo, useRef, useState,
  useSyncExternalStore } = React;`,
  "react-dom": `import client from "react-dom/client";
export const { createRoot, hydrateRoot } = client;`,
} as const;

/** The source of each module by its path. The modules `/react.js` and `/react-dom.js` share others. */
export type ReactModules = ReadonlyMap<string, string>;

/** React's development build, in which strict mode mounts every component twice. */
export async function buildReactModules(): Promise<ReactModules> {
  // Inside the repository, so that the entries find React.
  const folder = resolve("node_modules/.cache/react-entries");
  await mkdir(folder, { recursive: true });
  const entry: Record<string, string> = {};
  for (const [name, source] of Object.entries(ENTRIES)) {
    entry[name] = `${folder}/${name}.js`;
    await writeFile(entry[name], source);
  }
  const built = await build({
    configFile: false,
    logLevel: "error",
    mode: "development",
    define: { "process.env.NODE_ENV": '"development"' },
    build: { write: false, minify: false, lib: { entry, formats: ["es"] } },
  });
  const [output] = [built].flat();
  if (output === undefined || !("output" in output)) throw new Error("Vite built nothing.");
  return new Map(
    output.output.map((file) => {
      const code = file.type === "chunk" ? file.code : "";
      // Absolute, so that both entries load the same file wherever they are.
      return [`/${file.fileName}`, code.replaceAll(' from "./', ' from "/')];
    }),
  );
}
