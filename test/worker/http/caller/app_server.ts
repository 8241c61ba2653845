/** An app's server for tests: registered, with a key, acting in people's accounts. */
import { env } from "cloudflare:workers";
import { signInOperator, type Operator } from "../api/admin/operators.ts";
import { send, type Answer } from "../../support/passbook.ts";

export const APP = {
  name: "An app",
  starter_credits: 100,
  origins: [],
  daily_starter_budget: null as number | null,
  settle: "app",
  on_expiry: "refund",
  max_overage_percent: null as number | null,
  starter_expires_after_days: null as number | null,
  starter_only_here: false,
};

export interface AppServer {
  readonly key: string;
  readonly key_id: string;
  readonly operator: Operator;
  /** Calls with the key, in an account. */
  in(identity_id: string): {
    get(path: string): Promise<Answer>;
    post(path: string, body: object, headers?: Record<string, string>): Promise<Answer>;
  };
}

/** Registers an app or changes it, in the operator's isolate. */
export async function saveApp(
  operator: Operator,
  slug: string,
  settings: Partial<typeof APP> = {},
): Promise<void> {
  const [known = {}] = await rows(`select version from apps where slug = '${slug}'`);
  const body = { ...APP, ...known, ...settings };
  const response = await operator.send("PUT", `/api/admin/apps/${slug}`, body);
  if (response.status !== 200) throw new Error(response.text);
}

/** Registers an app and creates a key for its server. */
export async function openAppServer(
  slug: string,
  settings: Partial<typeof APP> = {},
  known_operator?: Operator,
): Promise<AppServer> {
  const operator = known_operator ?? (await signInOperator());
  await saveApp(operator, slug, settings);
  // An app that is opened again gets another key, with a label of its own.
  const label = `server ${crypto.randomUUID().slice(0, 8)}`;
  const made = await operator.send("POST", `/api/admin/apps/${slug}/keys`, { label });
  const { id, key } = made.body;
  return {
    key,
    key_id: id,
    operator,
    in(identity_id) {
      const bearer = { Authorization: `Bearer ${key}`, "Passbook-Identity": identity_id };
      return {
        get: (path) => send("GET", path, { headers: bearer }, operator.settings),
        post: (path, body, headers = {}) =>
          send(
            "POST",
            path,
            {
              headers: { ...bearer, "Content-Type": "application/json", ...headers },
              body: JSON.stringify(body),
            },
            operator.settings,
          ),
      };
    },
  };
}

/** Rows of the directory. */
export async function rows(statement: string): Promise<Record<string, unknown>[]> {
  return (await env.DIRECTORY.prepare(statement).all()).results;
}
