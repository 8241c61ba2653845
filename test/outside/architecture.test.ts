import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";

/**
 * The files that each room may import from other rooms. A room is a folder of `src`, or a file next to the folders. Type
 * imports count. A path that ends with a slash allows the whole folder. A file that is not listed is forbidden, and an
 * entry that is not used is an error.
 */
const ALLOWED_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  // Fields of bodies, queries and forms.
  "fields.ts": ["domain/"],
  keys: ["domain/"],
  oauth: ["domain/"],
  tokens: ["domain/", "keys/mac.ts", "keys/rsa_keys.ts", "keys/signing.ts"],
  // The clients that request connections. The registry is passed in.
  authorization: ["domain/", "oauth/ask.ts"],
  readmodel: ["domain/"],
  directory: [
    "domain/",
    "archive/bytes.ts",
    "archive/store.ts",
    "archive/table_rows.ts",
    "keys/encryption.ts",
    "keys/sealing.ts",
  ],
  device: ["domain/"],
  budget: ["domain/"],
  // The second copy of the ledger.
  archive: ["domain/"],
  payments: ["domain/"],
  // What operators see of the service's traffic.
  metrics: ["domain/", "oauth/ask.ts"],
  webhooks: ["domain/"],
  identity: [
    "domain/",
    "archive/store.ts",
    "archive/table_rows.ts",
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
    "oauth/clerk.ts",
    "oauth/providers.ts",
    "oauth/token_endpoint.ts",
    "oauth/upstream_tokens.ts",
  ],
  // Operators' use cases, without HTTP. It imports types of what it uses, never an adapter.
  operator: [
    "domain/",
    "fields.ts",
    "account/clients/accounts.ts",
    "account/contract.ts",
    "archive/store.ts",
    "config/config.ts",
    "directory/app_pauses.ts",
    "directory/app_records.ts",
    "directory/audit.ts",
    "directory/directory_copy.ts",
    "directory/oauth_records.ts",
    "directory/plan_records.ts",
    "directory/support_credits.ts",
    "directory/webhook_list.ts",
    "directory/webhook_records.ts",
    "identity/builtin/kept_people.ts",
    "identity/port.ts",
    "operations/account_deletion.ts",
    "operations/app_icon_copy.ts",
    "operations/health.ts",
    "operations/payment_reconciliation.ts",
    "operations/wildcards.ts",
    "payments/payments.ts",
    "readmodel/proof.ts",
    "readmodel/queries.ts",
    "webhooks/engine.ts",
  ],
  // Ports, clients, contracts and one pure function: never a store.
  http: [
    "domain/",
    "fields.ts",
    "operator/",
    "authorization/authentication.ts",
    "authorization/client_icons.ts",
    "authorization/clients.ts",
    "authorization/public_json.ts",
    "account/contract.ts",
    "account/clients/accounts.ts",
    "device/device_contract.ts",
    "identity/cookies.ts",
    "directory/directory_copy.ts",
    "identity/builtin/kept_people.ts",
    "identity/port.ts",
    "tokens/own_token.ts",
  ],
  // Pages share callers, middleware and use cases with the API. They import no endpoint of it: `http/api/` is not here.
  web: [
    "domain/",
    "operator/",
    "fields.ts",
    "http/allowances/",
    "http/caller/",
    "http/context.ts",
    "http/download.ts",
    "http/failures.ts",
    "http/middleware/",
    "http/oauth/",
    "http/person_data.ts",
    "http/redirect_to.ts",
    "http/refusal_page.ts",
    "http/refusals.ts",
    "http/services.ts",
    "http/validation.ts",
    "http/views.ts",
    "account/contract.ts",
    "device/device_contract.ts",
    "identity/port.ts",
  ],
  client: ["domain/currency.ts", "domain/refusal_codes.ts"],
  // `check-client` has the service's own rules.
  cli: [
    "domain/",
    "client/index.ts",
    "client/admin/index.ts",
    "client/oauth/index.ts",
    "client/testing/service.ts",
  ],
  // The build for development. Nothing of production imports it.
  development: [
    "domain/",
    "http/",
    "operator/",
    "fields.ts",
    "account/clients/accounts.ts",
    "account/contract.ts",
    "directory/app_records.ts",
    "app.ts",
    "services.ts",
    "worker.ts",
  ],
  "worker.ts": [
    "readmodel/projector.ts",
    "services.ts",
    "app.ts",
    "account/object.ts",
    "budget/object.ts",
    "device/object.ts",
    "operations/object_failures.ts",
    "webhooks/deliveries.ts",
    "webhooks/object.ts",
  ],
  "app.ts": ["http/", "web/"],
  config: ["domain/", "oauth/providers.ts", "oauth/trusted_issuers.ts"],
  operations: ["domain/"],
  "services.ts": [
    "domain/",
    "http/services.ts",
    "authorization/authorization.ts",
    "operations/account_deletion.ts",
    "operations/due_archives.ts",
    "operations/compared_accounts.ts",
    "archive/r2_store.ts",
    "config/config.ts",
    "operations/readiness.ts",
    "config/problems.ts",
    "account/clients/accounts.ts",
    "account/clients/clerk_tokens.ts",
    "account/clients/vault.ts",
    "budget/client.ts",
    "device/client.ts",
    "device/device_code.ts",
    "device/request_copies.ts",
    "directory/marker.ts",
    "directory/alert_records.ts",
    "directory/app_icons.ts",
    "directory/app_pauses.ts",
    "directory/app_records.ts",
    "directory/apps.ts",
    "directory/audit.ts",
    "directory/last_uses.ts",
    "directory/oauth_records.ts",
    "directory/plan_list.ts",
    "directory/plan_records.ts",
    "directory/deletions.ts",
    "directory/directory_copy.ts",
    "directory/reconciliation_progress.ts",
    "directory/failures.ts",
    "directory/schedule_record.ts",
    "directory/support_credits.ts",

    "directory/webhook_list.ts",
    "metrics/analytics_engine.ts",
    "metrics/remembered_requests.ts",
    "directory/webhook_records.ts",
    "directory/webhook_secrets.ts",
    "directory/webhooks.ts",
    "identity/builtin/adapter.ts",
    "identity/builtin/kept_people.ts",
    "identity/port.ts",
    "identity/session_endings.ts",
    "identity/token_people.ts",
    "keys/mac.ts",
    "keys/pseudonym.ts",
    "keys/sealed_text.ts",
    "keys/signing.ts",
    "oauth/clerk.ts",
    "oauth/issuer_keys.ts",
    "oauth/social_network.ts",
    "payments/stripe.ts",
    "readmodel/projector.ts",
    "operator/differences.ts",
    "readmodel/proof.ts",
    "readmodel/queries.ts",
    "readmodel/queue_projector.ts",
    "readmodel/retention.ts",
    "readmodel/account_walk.ts",
    "readmodel/carried.ts",
    "readmodel/top_spenders.ts",
    "readmodel/direct_projector.ts",
    "operations/alerts.ts",
    "operations/app_icon_copy.ts",
    "operations/health.ts",
    "operations/manual.ts",
    "operations/upkeep.ts",
    "operations/lost_accounts.ts",
    "operations/changed_plans.ts",
    "operations/overdue_accounts.ts",
    "operations/payment_booking.ts",
    "operations/payment_reconciliation.ts",
    "operations/wildcards.ts",
    "tokens/issuer_token.ts",
    "tokens/living_credentials.ts",
    "tokens/oauth_tokens.ts",
    "tokens/mint.ts",
    "tokens/personal_token.ts",
    "tokens/session_token.ts",
    "tokens/template_token.ts",
    "webhooks/deliveries.ts",
    "webhooks/delivery_records.ts",
    "webhooks/engine.ts",
    "webhooks/sender.ts",
  ],
};

/** Imports that only one file may have. */
const SINGLE_IMPORTS: readonly string[] = [
  // Delivery from the account to the read model. The platform constructs the object, so the object chooses the adapter.
  "account/sync/outbox.ts → readmodel/projector.ts",
  "account/sync/read_model_rows.ts → readmodel/line_totals.ts",
  "account/sync/read_model_rows.ts → readmodel/projector.ts",
  "account/parts.ts → readmodel/adapters.ts",
  // The account writes its ledger to the archive.
  "account/parts.ts → archive/r2_store.ts",
  "account/parts.ts → archive/store.ts",
  "account/parts.ts → readmodel/projector.ts",
  "account/sync/comparison.ts → archive/bytes.ts",
  "account/sync/comparison.ts → archive/store.ts",
  "account/sync/comparison.ts → readmodel/projector.ts",
  "account/sync/old_rows.ts → archive/bytes.ts",
  "account/sync/old_rows.ts → archive/store.ts",
  "account/sync/archiver.ts → archive/bytes.ts",
  "account/sync/archiver.ts → archive/store.ts",
  "account/sync/archiver.ts → readmodel/projector.ts",
  // A restored account keeps there what stays of the time after the moment.
  "account/recovery/from_archive.ts → archive/bytes.ts",
  "account/recovery/from_archive.ts → archive/store.ts",
  "account/recovery/recovery.ts → archive/bytes.ts",
  "account/recovery/recovery.ts → archive/store.ts",
  // An account that cannot deliver counts a failure, which operators see in the health figures.
  "account/parts.ts → directory/failures.ts",
  // The account fetches newer rules of its plan.
  "account/instance.ts → directory/plan_list.ts",
  // The account tells the senders of webhooks that it has something new.
  "account/parts.ts → directory/webhook_list.ts",
  "account/parts.ts → webhooks/sender_contract.ts",
  "account/webhooks/outbox.ts → webhooks/sender_contract.ts",
  // Requests to servers of other companies share one implementation of their limits.
  "payments/stripe_api.ts → oauth/ask.ts",
  // The list of services for requests. It imports types only; a test below checks that.
  "http/services.ts → operations/account_deletion.ts",
  "http/services.ts → operations/app_icon_copy.ts",
  "http/services.ts → operations/payment_booking.ts",
  "http/services.ts → operations/payment_reconciliation.ts",
  "http/services.ts → account/clients/vault.ts",
  "http/services.ts → archive/store.ts",
  "http/services.ts → budget/client.ts",
  "http/services.ts → config/config.ts",
  "http/services.ts → device/client.ts",
  "http/services.ts → device/device_code.ts",
  "http/services.ts → device/request_copies.ts",
  "http/services.ts → directory/app_icons.ts",
  "http/services.ts → directory/app_pauses.ts",
  "http/services.ts → directory/app_records.ts",
  "http/services.ts → directory/apps.ts",
  "http/services.ts → directory/audit.ts",
  "http/services.ts → directory/last_uses.ts",
  "http/services.ts → directory/oauth_records.ts",
  "http/services.ts → directory/plan_records.ts",
  "http/services.ts → directory/failures.ts",
  "http/services.ts → directory/support_credits.ts",
  "http/services.ts → directory/webhook_records.ts",
  "http/services.ts → directory/webhooks.ts",
  "http/services.ts → operations/health.ts",
  "http/services.ts → operations/manual.ts",
  "http/services.ts → identity/token_people.ts",
  "http/services.ts → keys/sealed_text.ts",
  "http/services.ts → keys/signing.ts",
  "http/services.ts → oauth/social_network.ts",
  "http/services.ts → payments/payments.ts",
  "http/services.ts → readmodel/proof.ts",
  "http/services.ts → readmodel/queries.ts",
  "http/services.ts → tokens/oauth_tokens.ts",
  "http/services.ts → tokens/issuer_token.ts",
  "http/services.ts → tokens/living_credentials.ts",
  "http/services.ts → tokens/mint.ts",
  "http/services.ts → tokens/personal_token.ts",
  "http/services.ts → tokens/session_token.ts",
  "http/services.ts → tokens/template_token.ts",
  "http/services.ts → operations/wildcards.ts",
  "http/services.ts → webhooks/deliveries.ts",
  "http/services.ts → webhooks/engine.ts",
  "http/services.ts → webhooks/sender.ts",
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
  "stopped_apps.ts",
  "ledger",
  "top_up",
  "idempotency",
  "allowances",
  "oauth",
  "approvals",
  "wallet",
  "jobs",
  "endings.ts",
  "app_stop.ts",
  "purchases",
  "operators",
  "webhooks",
  "access.ts",
  "overview.ts",
  "holdings.ts",
  "canary.ts",
  "deletion",
  "events",
  "vault",
  "admission.ts",
  "charging.ts",
  "after_commit.ts",
  "parts.ts",
  "instance.ts",
  "recovery",
  "deleted_payments.ts",
  "operations.ts",
  "object.ts",
  "clients",
];

interface Edge {
  readonly from: string;
  readonly to: string;
}

function roomOf(path: string): string {
  return path.split("/")[0] ?? path;
}

/** Relative imports and exports of any form, static and dynamic. */
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

const describeEdge = ({ from, to }: Edge): string => `${from} → ${to}`;

function allows(entry: string, to: string): boolean {
  return entry.endsWith("/") ? to.startsWith(entry) : to === entry;
}

describe("the rooms of src", () => {
  const edges = readEdges();

  it("a room imports only the files of other rooms that the list allows", () => {
    const forbidden = edges.filter((edge) => {
      const allowed = ALLOWED_IMPORTS[roomOf(edge.from)] ?? [];
      const is_allowed = allowed.some((entry) => allows(entry, edge.to));
      return !is_allowed && !SINGLE_IMPORTS.includes(describeEdge(edge));
    });
    expect(forbidden.map(describeEdge)).toEqual([]);
  });

  it("every entry of the lists of allowed imports is used", () => {
    const unused = Object.entries(ALLOWED_IMPORTS).flatMap(([room, entries]) =>
      entries
        // Every room may use the rules, even if none of its files does now.
        .filter((entry) => entry !== "domain/")
        .filter(
          (entry) => !edges.some(({ from, to }) => roomOf(from) === room && allows(entry, to)),
        )
        .map((entry) => `${room} → ${entry}`),
    );
    expect(unused).toEqual([]);
    expect(SINGLE_IMPORTS.filter((entry) => !edges.map(describeEdge).includes(entry))).toEqual([]);
  });

  it("no room imports itself through other rooms", () => {
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

  it("src/http/services.ts imports types only, and only the entries import src/services.ts", () => {
    const imports = readFileSync("src/http/services.ts", "utf8").match(/^import .*$/gm) ?? [];
    expect(imports.filter((line) => !line.startsWith("import type "))).toEqual([]);
    const importers = edges
      .filter(({ to }) => to === "services.ts")
      .map(({ from }) => roomOf(from));
    expect(new Set(importers)).toEqual(new Set(["development", "worker.ts"]));
  });

  it("every folder and file of src has its list of allowed imports", () => {
    const rooms = new Set(globSync("src/*").map((path) => path.slice("src/".length)));
    rooms.delete("commands");
    expect(new Set(Object.keys(ALLOWED_IMPORTS))).toEqual(rooms);
    expect(edges.length).toBeGreaterThan(50);
  });
});

describe("the files of a room", () => {
  const imports = readImports();

  it("no file of any room imports itself through other files", () => {
    expect(filesInCircles(imports)).toEqual([]);
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
    expect(inner.filter(({ from, to }) => heightOf(from) < heightOf(to)).map(describeEdge)).toEqual(
      [],
    );
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

  it("domain and client import no package, except that the hooks import React and the testing kit Node", () => {
    expect(imported("domain")).toEqual([]);
    const packages = imported("client").filter((name) => !name.startsWith("node:"));
    expect(new Set(packages)).toEqual(new Set(["react"]));
    const on_node = globSync("src/client/**/*.ts").filter((path) =>
      /from "node:/.test(readFileSync(path, "utf8")),
    );
    expect(on_node.filter((path) => !path.startsWith("src/client/testing/"))).toEqual([]);
    const importing = globSync("src/client/**/*.ts").filter((path) =>
      /from "react"/.test(readFileSync(path, "utf8")),
    );
    expect(importing).toEqual(["src/client/react/hooks.ts"]);
    // The core must work without React.
    const core = readImports().filter(({ from }) => /^(?:client|cli)\/[^/]+$/.test(from));
    expect(core.filter(({ to }) => to.startsWith("client/react/"))).toEqual([]);
  });

  it.each(["drizzle-orm", "cloudflare:workers", "oauth4webapi"])(
    "http and web do not import %s",
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

  it("zod is imported as a namespace, so that its locales stay out of the bundle", () => {
    expect(imports.filter(({ what }) => !/^import (type )?\* as z$/.test(what))).toEqual([]);
    expect(imports.length).toBeGreaterThan(40);
  });

  it("the Worker's own code imports zod/mini, whose unused functions stay out of the bundle", () => {
    // Parts of the API document are next to the endpoints. Only `npm run openapi` loads them.
    const at_build = /^src\/(?:http\/openapi\/|commands\/|http\/.*\/\w+_(?:document|schemas)\.ts$)/;
    const inside = imports.filter(({ path }) => !at_build.test(path));
    expect(inside.filter(({ name }) => name !== "zod/mini")).toEqual([]);
  });
});
