/** D1 `DB` in its failure states. Objects and tests share an isolate, so mocked methods apply to both. */
import { env } from "cloudflare:workers";
import { vi } from "vitest";

export type Outage = "off" | "full" | "slow" | "wiped";

/** Only queries of the read model's tables, because `DIRECTORY` has the same prototype. */
const ITS_TABLES = /\b(accounts|grants|jobs)\b/i;

/**
 * Puts the read model into a state until the test's mocks are restored. Rows deleted by "wiped" stay deleted.
 */
export async function breakReadModel(outage: Outage): Promise<void> {
  if (outage === "wiped") return wipe();
  const prototype = Object.getPrototypeOf(env.DB);
  const { prepare, batch } = prototype;
  vi.spyOn(prototype, "prepare").mockImplementation(function (this: unknown, query) {
    const statement: object = Reflect.apply(prepare, this, [query]);
    return ITS_TABLES.test(String(query)) ? answering(statement, outage) : statement;
  });
  vi.spyOn(prototype, "batch").mockImplementation(function (this: unknown, statements) {
    const broken = (statements as object[]).some((statement) => broken_statements.has(statement));
    return broken ? failure(outage) : Reflect.apply(batch, this, [statements]);
  });
}

const broken_statements = new WeakSet<object>();

function answering(statement: object, outage: Outage): object {
  const broken: object = new Proxy(statement, {
    get(_, name) {
      return name === "bind" ? () => broken : () => failure(outage);
    },
  });
  broken_statements.add(broken);
  return broken;
}

/** Fails like D1. A slow outage fails only after every request has stopped waiting. */
async function failure(outage: Outage): Promise<never> {
  if (outage === "slow") await new Promise((resolve) => setTimeout(resolve, 300));
  throw new Error(
    outage === "full" ? "D1_ERROR: Exceeded maximum DB size" : "D1_ERROR: out of reach",
  );
}

async function wipe(): Promise<void> {
  const { results } = await env.DB.prepare(
    `select type, name from sqlite_master where type in ('view', 'table')
     and name not like 'sqlite_%' and name not like '\\_cf%' escape '\\' order by type desc`,
  ).all();
  for (const { type, name } of results) await env.DB.exec(`drop ${String(type)} "${String(name)}"`);
}

/** A `DB` that no request may use. */
export function untouchable(): D1Database {
  return new Proxy(env.DB, {
    get(_, name) {
      throw new Error(`a request asked the read model: ${String(name)}`);
    },
  });
}
