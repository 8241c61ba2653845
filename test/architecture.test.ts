import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";

/** Which rooms each room may import from; a room is a folder of src/. Type imports count. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  keys: ["domain"],
  oauth: ["domain"],
  tokens: ["domain", "keys"],
  readmodel: ["domain"],
  directory: ["domain"],
  identity: ["domain", "keys", "oauth"],
  device: ["domain"],
  account: ["domain", "keys", "oauth"],
  pages: ["domain", "identity"],
  client: [],
  cli: ["client"],
  http: ["domain", "account", "device", "identity", "tokens", "directory", "pages"],
};

/** The one sideways edge: the outbox's way to the read model, put together by the object itself. */
const ALSO: readonly string[] = [
  "src/account/outbox.ts → src/readmodel/projector.ts",
  "src/account/projection.ts → src/readmodel/projector.ts",
  "src/account/object.ts → src/readmodel/adapters.ts",
];

/** What http and pages may see of the other rooms: ports, clients, contracts, one pure function. */
const OPEN_TO_HTTP = [
  "src/account/client.ts",
  "src/account/contract.ts",
  "src/device/client.ts",
  "src/device/contract.ts",
  "src/identity/port.ts",
  "src/identity/cookies.ts",
  "src/directory/apps.ts",
  "src/tokens/own_token.ts",
];

interface Edge {
  readonly from: string;
  readonly to: string;
}

function roomOf(path: string): string {
  return path.split("/").length > 2 ? (path.split("/")[1] ?? "") : "";
}

function readEdges(): Edge[] {
  return globSync("src/**/*.{ts,tsx}")
    .filter((from) => !from.startsWith("src/commands/"))
    .flatMap((from) => {
      const imports = readFileSync(from, "utf8").matchAll(/(?:from|import)\s+"(\.[^"]+)"/g);
      return [...imports].map(([, path = ""]) => ({
        from,
        to: normalize(join(dirname(from), path)),
      }));
    })
    .filter(({ to }) => to.startsWith("src/"));
}

describe("the rooms of the house", () => {
  const edges = readEdges();

  it("import each other only as the design draws it", () => {
    const forbidden = edges.filter(({ from, to }) => {
      const [room, other] = [roomOf(from), roomOf(to)];
      if (room === "" || room === other) return false;
      // Settings are read at the root; a room is given named types of its own.
      if (to === "src/config.ts") return true;
      // The root's composition is seen by http through its types alone.
      if (to === "src/services.ts") return room !== "http";
      if (other === "") return true;
      if (ALSO.includes(`${from} → ${to}`)) return false;
      return !(MAY_IMPORT[room] ?? []).includes(other);
    });
    expect(forbidden).toEqual([]);
  });

  it("show http and pages no store, only ports, clients and the domain", () => {
    const forbidden = edges.filter(({ from, to }) => {
      if (!["http", "pages"].includes(roomOf(from))) return false;
      if (["http", "pages", "domain", ""].includes(roomOf(to))) return false;
      return !OPEN_TO_HTTP.includes(to);
    });
    expect(forbidden).toEqual([]);
  });

  it("name concrete adapters only where everything is put together", () => {
    const adapters =
      /^src\/(identity\/(builtin|clerk)\/adapter|account\/object|device\/object)\.ts$/;
    const named = edges.filter(({ from, to }) => adapters.test(to) && roomOf(from) !== roomOf(to));
    expect(named.map(({ from }) => from).filter((from) => !/services|worker/.test(from))).toEqual(
      [],
    );
  });

  it("are there for this test to see", () => {
    expect(edges.length).toBeGreaterThan(50);
  });
});

describe("zod", () => {
  it("is imported whole, so that its locales stay out of the bundle", () => {
    const sources = globSync("src/**/*.{ts,tsx}").map((path) => readFileSync(path, "utf8"));
    expect(sources.filter((source) => /import \{[^}]*\} from "zod"/.test(source))).toEqual([]);
  });
});
