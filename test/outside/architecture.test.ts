import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";

/**
 * The doors of the house (design, section 5): what the files of a room may import from other rooms, file
 * by file. A room is a folder of `src`, or a file beside the folders; type imports count. Only `domain`,
 * and `http` and `web` from above, are open whole. What is not named is forbidden, and what is named
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
    "keys/sealing.ts",
    "oauth/ask.ts",
    "oauth/conversation.ts",
    "oauth/providers.ts",
    "oauth/token_endpoint.ts",
    "oauth/upstream_tokens.ts",
  ],
  account: [
    "domain/",
    "keys/encryption.ts",
    "keys/sealing.ts",
    "oauth/providers.ts",
    "oauth/token_endpoint.ts",
    "oauth/upstream_tokens.ts",
  ],
  // Ports, clients, contracts and one pure function: never a store.
  http: [
    "domain/",
    "account/contract.ts",
    "account/clients/accounts.ts",
    "device/contract.ts",
    "identity/cookies.ts",
    "identity/port.ts",
    "tokens/own_token.ts",
  ],
  // Pages build on the API's callers, middleware and operations.
  web: ["domain/", "http/", "account/contract.ts", "device/contract.ts", "identity/port.ts"],
  client: ["domain/refusal_codes.ts"],
  cli: ["client/index.ts"],
  "worker.ts": [
    "readmodel/projector.ts",
    "services.ts",
    "app.ts",
    "account/object.ts",
    "budget/object.ts",
    "device/object.ts",
  ],
  "app.ts": ["http/", "web/"],
  config: ["domain/", "oauth/providers.ts"],
  operations: ["domain/"],
  "services.ts": [
    "domain/",
    "http/services.ts",
    "operations/account_deletion.ts",
    "config/config.ts",
    "operations/readiness.ts",
    "config/problems.ts",
    "account/clients/accounts.ts",
    "account/clients/vault.ts",
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
    "payments/stripe.ts",
    "readmodel/projector.ts",
    "readmodel/queries.ts",
    "readmodel/queue_projector.ts",
    "readmodel/retention.ts",
    "readmodel/direct_projector.ts",
    "operations/upkeep.ts",
    "operations/lost_accounts.ts",
    "operations/wildcards.ts",
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
  "account/sync/outbox.ts → readmodel/projector.ts",
  "account/sync/read_model_rows.ts → readmodel/projector.ts",
  "account/parts.ts → readmodel/adapters.ts",
  // Requests within limits to a server that is not ours are the same whoever it is.
  "payments/stripe_api.ts → oauth/ask.ts",
  // The one list of what a request may use; types alone, held below.
  "http/services.ts → operations/account_deletion.ts",
  "http/services.ts → account/clients/vault.ts",
  "http/services.ts → budget/client.ts",
  "http/services.ts → config/config.ts",
  "http/services.ts → device/client.ts",
  "http/services.ts → device/device_code.ts",
  "http/services.ts → device/request_copies.ts",
  "http/services.ts → directory/app_records.ts",
  "http/services.ts → directory/apps.ts",
  "http/services.ts → directory/audit.ts",
  "http/services.ts → keys/signing.ts",
  "http/services.ts → oauth/social_network.ts",
  "http/services.ts → payments/payments.ts",
  "http/services.ts → readmodel/queries.ts",
  "http/services.ts → tokens/living_personal_tokens.ts",
  "http/services.ts → tokens/mint.ts",
  "http/services.ts → tokens/personal_token.ts",
  "http/services.ts → tokens/session_token.ts",
  "http/services.ts → tokens/template_token.ts",
  "http/services.ts → operations/wildcards.ts",
];

/**
 * The inner rooms of the account, from the bottom up: a file imports only from its own room and from rooms before it.
 */
const ACCOUNT_ROOMS: readonly string[] = [
  "sql",
  "contract",
  "contract.ts",
  "caller.ts",
  "sync",
  "transaction.ts",
  "ledger",
  "idempotency",
  "wallet",
  "allowances",
  "jobs",
  "purchases",
  "operators",
  "overview.ts",
  "deletion",
  "events",
  "vault",
  "admission.ts",
  "parts.ts",
  "instance.ts",
  "object.ts",
  "clients",
];

/** Files that still import each other in a circle. */
const CIRCLES: readonly string[] = [
  "web/console/account_page.tsx",
  "web/console/account_panels.tsx",
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

function readImports(): Edge[] {
  return globSync("src/**/*.{ts,tsx,js}")
    .map((path) => path.slice("src/".length))
    .flatMap((from) =>
      [...readFileSync(`src/${from}`, "utf8").matchAll(IMPORT)].map(([, path = ""]) => ({
        from,
        to: normalize(join(dirname(from), path)),
      })),
    )
    .filter(({ to }) => !to.startsWith(".."));
}

function readEdges(): Edge[] {
  return readImports().filter(
    ({ from, to }) => roomOf(from) !== "commands" && roomOf(from) !== roomOf(to),
  );
}

/** The files that import themselves through other files, over any number of imports. */
function filesInCircles(imports: readonly Edge[]): string[] {
  const imported = new Map<string, string[]>();
  for (const { from, to } of imports) imported.set(from, [...(imported.get(from) ?? []), to]);
  const importsItself = (start: string): boolean => {
    const seen = new Set<string>();
    const queue = [start];
    for (const file of queue) {
      for (const to of imported.get(file) ?? []) {
        if (to === start) return true;
        if (seen.has(to)) continue;
        seen.add(to);
        queue.push(to);
      }
    }
    return false;
  };
  return [...imported.keys()].filter(importsItself).toSorted();
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
    const reached = (start: string): Set<string> => {
      const seen = new Set<string>();
      const queue = [start];
      for (const room of queue) {
        for (const { from, to } of edges) {
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

  it("give http types alone by the list of what a request may use", () => {
    const imports = readFileSync("src/http/services.ts", "utf8").match(/^import .*$/gm) ?? [];
    expect(imports.filter((line) => !line.startsWith("import type "))).toEqual([]);
    expect(edges.filter(({ to }) => to === "services.ts").map(say)).toEqual([
      "worker.ts → services.ts",
    ]);
  });

  it("are all on the list", () => {
    const rooms = new Set(globSync("src/*").map((path) => path.slice("src/".length)));
    rooms.delete("commands");
    expect(new Set(Object.keys(DOORS))).toEqual(rooms);
    expect(edges.length).toBeGreaterThan(50);
  });
});

describe("the files of a room", () => {
  const imports = readImports();

  it("no file of any room imports itself through others, except the listed ones", () => {
    expect(filesInCircles(imports)).toEqual(CIRCLES);
    expect(
      filesInCircles([
        { from: "a", to: "b" },
        { from: "b", to: "c" },
      ]),
    ).toEqual([]);
    const circle = [
      { from: "a", to: "b" },
      { from: "b", to: "c" },
      { from: "c", to: "a" },
    ];
    expect(filesInCircles(circle)).toEqual(["a", "b", "c"]);
  });

  it("a file of the account imports only from its own inner room and from lower ones", () => {
    const innerRoomOf = (path: string): string => path.split("/")[1] ?? path;
    const inner = imports.filter(({ from, to }) =>
      [from, to].every((path) => roomOf(path) === "account"),
    );
    const heightOf = (path: string): number => ACCOUNT_ROOMS.indexOf(innerRoomOf(path));
    expect(inner.filter(({ from, to }) => heightOf(from) < heightOf(to)).map(say)).toEqual([]);
    const rooms = new Set(globSync("src/account/*").map((path) => innerRoomOf(path.slice(4))));
    expect(rooms).toEqual(new Set(ACCOUNT_ROOMS));
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
      const seen = [...imported("http"), ...imported("web")];
      expect(seen.filter((found) => found === name || found.startsWith(`${name}/`))).toEqual([]);
    },
  );
});

describe("zod", () => {
  const IMPORT_OF_ZOD = /^((?:import|export)[^;]*?) from "(zod(?:\/[^"]*)?)"/gm;
  const imports = globSync("src/**/*.{ts,tsx}").flatMap((path) =>
    [...readFileSync(path, "utf8").matchAll(IMPORT_OF_ZOD)].map(([, what = "", name]) => ({
      path,
      what,
      name,
    })),
  );

  it("is imported whole, so that its locales stay out of the bundle", () => {
    expect(imports.filter(({ what }) => !/^import (type )?\* as z$/.test(what))).toEqual([]);
    expect(imports.length).toBeGreaterThan(40);
  });

  it("is the functions alone, not the classes with all their methods, where the Worker runs", () => {
    // The document's parts are next to the endpoints, and only `npm run openapi` loads them.
    const at_build = /^src\/(?:http\/openapi\/|commands\/|http\/.*\/openapi(?:_schemas)?\.ts$)/;
    const inside = imports.filter(({ path }) => !at_build.test(path));
    expect(inside.filter(({ name }) => name !== "zod/mini")).toEqual([]);
  });
});

describe("loading the Worker", () => {
  it("makes no format of a language, the first of which costs a third of a cold start", () => {
    const at_load =
      /^(?:export )?(?:const|let|var) (?![^\n]*=>)[^;]*?(?:\bnew Intl\.|\.toLocale\w*String\()/m;
    const loaded = globSync("src/**/*.{ts,tsx}").filter(
      (path) => !/^src\/(cli|client|commands)\//.test(path),
    );
    expect(loaded.filter((path) => at_load.test(readFileSync(path, "utf8")))).toEqual([]);
    expect(at_load.test('const NUMBER = new Intl.NumberFormat("en-GB");')).toBe(true);
  });
});
