import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";

/**
 * The doors of the house (design, section 5): what the files of a room may import from other rooms, file
 * by file. A room is a folder of `src`, or a file beside the folders; type imports count. Only `domain`,
 * and `pages` and `http` from above, are open whole. What is not named is forbidden, and what is named
 * and not used is taken off the list.
 */
const DOORS: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  keys: ["domain/"],
  oauth: ["domain/"],
  tokens: ["domain/", "keys/mac.ts", "keys/signing.ts"],
  readmodel: ["domain/"],
  directory: ["domain/"],
  device: ["domain/"],
  budget: ["domain/"],
  payments: ["domain/"],
  identity: [
    "domain/",
    "keys/encryption.ts",
    "oauth/ask.ts",
    "oauth/conversation.ts",
    "oauth/providers.ts",
    "oauth/token_endpoint.ts",
    "oauth/upstream_tokens.ts",
  ],
  account: [
    "domain/",
    "keys/encryption.ts",
    "oauth/providers.ts",
    "oauth/token_endpoint.ts",
    "oauth/upstream_tokens.ts",
  ],
  pages: ["domain/", "identity/port.ts"],
  // Ports, clients, contracts and one pure function: never a store.
  http: [
    "domain/",
    "pages/",
    "account/contract.ts",
    "account/watch_client.ts",
    "device/contract.ts",
    "identity/cookies.ts",
    "identity/port.ts",
    "tokens/own_token.ts",
  ],
  client: [],
  cli: ["client/index.ts"],
  "worker.ts": [
    "readmodel/projector.ts",
    "services.ts",
    "app.ts",
    "account/object.ts",
    "budget/object.ts",
    "device/object.ts",
  ],
  "app.ts": ["http/"],
  "config.ts": ["domain/", "oauth/providers.ts", "setting_problems.ts"],
  "setting_problems.ts": [],
  "readiness.ts": ["domain/"],
  "upkeep.ts": ["domain/"],
  "account_deletion.ts": ["domain/"],
  "services.ts": [
    "domain/",
    "account_deletion.ts",
    "config.ts",
    "readiness.ts",
    "setting_problems.ts",
    "account/client.ts",
    "account/vault/client.ts",
    "budget/client.ts",
    "device/client.ts",
    "device/device_code.ts",
    "device/request_copies.ts",
    "directory/app_records.ts",
    "directory/apps.ts",
    "directory/audit.ts",
    "directory/deletions.ts",
    "identity/builtin/adapter.ts",
    "identity/port.ts",
    "identity/session_endings.ts",
    "keys/mac.ts",
    "keys/pseudonym.ts",
    "keys/signing.ts",
    "oauth/social_network.ts",
    "payments/payments.ts",
    "payments/stripe.ts",
    "readmodel/projector.ts",
    "readmodel/queries.ts",
    "readmodel/queue_projector.ts",
    "readmodel/retention.ts",
    "readmodel/straight_projector.ts",
    "upkeep.ts",
    "tokens/living_personal_tokens.ts",
    "tokens/mint.ts",
    "tokens/personal_token.ts",
    "tokens/session_token.ts",
    "tokens/template_token.ts",
  ],
};

/** Edges that one file alone may have. */
const ALONE: readonly string[] = [
  // Sideways: the outbox's way to the read model, put together by the object, which the platform makes.
  "account/outbox.ts → readmodel/projector.ts",
  "account/projection.ts → readmodel/projector.ts",
  "account/object.ts → readmodel/adapters.ts",
  // Requests within limits to a server that is not ours are the same whoever it is.
  "payments/stripe_api.ts → oauth/ask.ts",
  // Up, but for its types: what the composition root puts together is what a request may use.
  "http/context.ts → services.ts",
  "http/health.ts → services.ts",
  "http/payments/sold.ts → services.ts",
  "http/refused_origins.ts → services.ts",
  "http/setup.ts → services.ts",
];

interface Edge {
  readonly from: string;
  readonly to: string;
}

function roomOf(path: string): string {
  return path.split("/")[0] ?? path;
}

/** Imports of any form: of values, of types, for effect, exported on, when called, within a type. */
const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*["'](\.[^"']+)["']/g;

function readEdges(): Edge[] {
  return globSync("src/**/*.{ts,tsx,js}")
    .map((path) => path.slice("src/".length))
    .filter((from) => !from.startsWith("commands/"))
    .flatMap((from) =>
      [...readFileSync(`src/${from}`, "utf8").matchAll(IMPORT)].map(([, path = ""]) => ({
        from,
        to: normalize(join(dirname(from), path)),
      })),
    )
    .filter(({ from, to }) => !to.startsWith("..") && roomOf(from) !== roomOf(to));
}

const say = ({ from, to }: Edge): string => `${from} → ${to}`;

function fits(door: string, to: string): boolean {
  return door.endsWith("/") ? to.startsWith(door) : to === door;
}

describe("the rooms of the house", () => {
  const edges = readEdges();

  it("import each other only by the doors that are drawn", () => {
    const forbidden = edges.filter((edge) => {
      const doors = DOORS[roomOf(edge.from)] ?? [];
      return !ALONE.includes(say(edge)) && !doors.some((door) => fits(door, edge.to));
    });
    expect(forbidden.map(say)).toEqual([]);
  });

  it("have no door that nobody uses", () => {
    const unused = Object.entries(DOORS).flatMap(([room, doors]) =>
      doors
        // Whoever may see anything may see the rules.
        .filter((door) => door !== "domain/")
        .filter((door) => !edges.some(({ from, to }) => roomOf(from) === room && fits(door, to)))
        .map((door) => `${room} → ${door}`),
    );
    expect(unused).toEqual([]);
    expect(ALONE.filter((alone) => !edges.map(say).includes(alone))).toEqual([]);
  });

  it("never import each other both ways, nor round a corner", () => {
    // The types that http sees of the root are the one way up.
    const ways = edges.filter(({ to }) => to !== "services.ts");
    const reached = (start: string): Set<string> => {
      const seen = new Set<string>();
      const queue = [start];
      for (const room of queue) {
        for (const { from, to } of ways) {
          if (roomOf(from) !== room || seen.has(roomOf(to))) continue;
          seen.add(roomOf(to));
          queue.push(roomOf(to));
        }
      }
      return seen;
    };
    const rooms = new Set(edges.flatMap(({ from, to }) => [roomOf(from), roomOf(to)]));
    expect([...rooms].filter((room) => reached(room).has(room))).toEqual([]);
  });

  it("see of the composition root its types alone", () => {
    const up = edges.filter(({ from, to }) => to === "services.ts" && roomOf(from) === "http");
    const taken = up.flatMap(({ from }) =>
      [...readFileSync(`src/${from}`, "utf8").matchAll(/import ([^;]*?) from "[./]*services\.ts"/g)]
        .map(([, names = ""]) => `${from}: ${names}`)
        .filter((line) => !line.includes(": type ")),
    );
    // What has the environment asks the root to be built.
    expect(taken).toEqual(["http/health.ts: { servicesFor }", "http/setup.ts: { servicesFor }"]);
  });

  it("are all on the list", () => {
    const rooms = new Set(globSync("src/*").map((path) => path.slice("src/".length)));
    rooms.delete("commands");
    expect(new Set(Object.keys(DOORS))).toEqual(rooms);
    expect(edges.length).toBeGreaterThan(50);
  });
});

describe("packages", () => {
  const imported = (folder: string): string[] =>
    globSync(`src/${folder}/**/*.{ts,tsx}`).flatMap((path) =>
      [...readFileSync(path, "utf8").matchAll(/^(?:import|export)[^;]*?from "([^.][^"]*)"/gms)].map(
        ([, name = ""]) => name,
      ),
    );

  it("are none of the rules' affair, nor of the client's", () => {
    expect(imported("domain")).toEqual([]);
    expect(imported("client")).toEqual([]);
  });

  it.each(["drizzle-orm", "cloudflare:workers", "oauth4webapi"])(
    "%s is not what http and pages see",
    (name) => {
      const seen = [...imported("http"), ...imported("pages")];
      expect(seen.filter((found) => found === name || found.startsWith(`${name}/`))).toEqual([]);
    },
  );
});

describe("zod", () => {
  it("is imported whole, so that its locales stay out of the bundle", () => {
    const sources = globSync("src/**/*.{ts,tsx}").map((path) => readFileSync(path, "utf8"));
    expect(sources.filter((source) => /import \{[^}]*\} from "zod"/.test(source))).toEqual([]);
  });
});
