/** A web site whose pages use this repository's client and React without a build step. */
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { stripTypeScriptTypes } from "node:module";
import { normalize } from "node:path";
import type { ReactModules } from "./react_modules.ts";

/** The head of each page: browsers find the packages by it. */
export const IMPORT_MAP = `<script type="importmap">${JSON.stringify({
  imports: {
    react: "/react.js",
    "react-dom/client": "/react-dom.js",
    "passbook-client": "/client/index.ts",
    "passbook-client/react": "/client/react/index.ts",
  },
})}</script>`;

export interface ReactSite {
  /** The pages by their path, such as `/`. */
  readonly pages: Map<string, string>;
  stop(): void;
}

/** Serves pages, React's modules, and the files of the client without their types. */
export async function serveReactSite(port: number, modules: ReactModules): Promise<ReactSite> {
  const pages = new Map<string, string>();
  const contentOf = async (path: string): Promise<[type: string, text: string] | null> => {
    const page = pages.get(path);
    if (page !== undefined) return ["text/html", page];
    const module = modules.get(path);
    if (module !== undefined) return ["text/javascript", module];
    if (!/^\/(?:client|domain)\/[a-z_/]+\.ts$/.test(path)) return null;
    const source = await readFile(normalize(`src${path}`), "utf8");
    return ["text/javascript", stripTypeScriptTypes(source)];
  };
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const content = await contentOf(pathname);
    const [type, text] = content ?? ["text/plain", "Not found"];
    response.writeHead(content === null ? 404 : 200, { "Content-Type": `${type}; charset=utf-8` });
    response.end(text);
  };
  const server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((resolve) => server.listen(port, "localhost", resolve));
  return {
    pages,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
