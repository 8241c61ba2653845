/** What may not change when a request is refused. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";

/** Counts and notes for operators and people. They say that something was refused or seen. */
const NOTES = ["access_events", "failures", "last_uses", "scheduled_tasks", "sessions"];
/** The record of what operators tried, also of what was refused. */
const AUDIT = ["audit", "audit_outcomes"];

const NAMES = `select name from sqlite_master where type = 'table'
  and name not like 'sqlite%' and name not like 'd1_%' and name not like '\\_cf%' escape '\\'`;

export interface State {
  /** All rows of an account and of the registry, as text. */
  readonly rows: string;
  readonly audit: string;
}

export async function readState(identity_id: string): Promise<State> {
  const account = await runInDurableObject(env.ACCOUNT.getByName(identity_id), (_, { storage }) => {
    const read = (sql: string) => storage.sql.exec<Record<string, string>>(sql).toArray();
    const names = read(NAMES).map(({ name = "" }) => name);
    const kept = names.filter((name) => !NOTES.includes(name));
    return kept.map((name) => [name, read(`select * from "${name}"`)]);
  });
  const { results } = await env.DIRECTORY.prepare(NAMES).all<{ name: string }>();
  const names = results.map(({ name }) => name).filter((name) => !NOTES.includes(name));
  const contents = await env.DIRECTORY.batch(
    names.map((name) => env.DIRECTORY.prepare(`select * from "${name}"`)),
  );
  const registry = names.map((name, at) => [name, contents[at]?.results] as const);
  const [audit, others] = [true, false].map((wanted) =>
    registry.filter(([name]) => AUDIT.includes(name) === wanted),
  );
  return { rows: JSON.stringify([account, others]), audit: JSON.stringify(audit) };
}
