/** An outage of D1 `DIRECTORY` as the Worker sees it. The objects never call it. */
import { env } from "cloudflare:workers";
import { environmentWith } from "./passbook.ts";

export interface Directory {
  /** The environment of a new isolate with this directory. */
  environment(settings?: object): Env;
  state: "answers" | "fails" | "hangs";
  /** The number of queries prepared so far, whether they failed or not. */
  asked: number;
}

/** Opens a directory whose state a test decides. */
export function openDirectory(): Directory {
  const directory: Directory = {
    state: "answers",
    asked: 0,
    environment: (settings = {}) => environmentWith({ ...settings, DIRECTORY: binding }),
  };
  const binding = new Proxy(env.DIRECTORY, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (name !== "prepare") return typeof member === "function" ? member.bind(target) : member;
      return (query: string) => {
        directory.asked += 1;
        if (directory.state === "fails") throw new Error("D1_ERROR: out of reach");
        return directory.state === "hangs" ? hanging : target.prepare(query);
      };
    },
  });
  return directory;
}

const never = (): Promise<never> => new Promise(() => undefined);
const hanging = { bind: () => hanging, all: never, raw: never, run: never, first: never };

/** Writes an app's row as operators would. */
export async function registerApp(
  slug: string,
  {
    starter_credits = 0,
    origins_json = "[]",
  }: { starter_credits?: unknown; origins_json?: unknown },
): Promise<void> {
  await env.DIRECTORY.prepare(
    "insert or replace into apps (slug, name, starter_credits, origins_json, created_at_ms) values (?, 'An app', ?, ?, 0)",
  )
    .bind(slug, starter_credits, origins_json)
    .run();
}

/** Removes the constraints of the table of apps and keeps its rows. */
export async function dropConstraints(): Promise<void> {
  await env.DIRECTORY.batch([
    env.DIRECTORY.prepare("create table apps_unchecked as select * from apps"),
    env.DIRECTORY.prepare("drop table apps"),
    env.DIRECTORY.prepare("alter table apps_unchecked rename to apps"),
  ]);
}
