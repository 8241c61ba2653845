/**
 * The credential that started a job. Its name is stored with the job: the row of a token is deleted some time after its
 * end, and who spent must still be known then. Pure.
 */
import { idsOfPath, rootOfPath } from "./allowance.ts";

/** `started_by_json` of a job, for everything but the holder in a browser. The job's path has the ids of allowances. */
export type Starter =
  /** The app's key, or a session that acts through its page. `name`: of the registered app; null: it is not registered. */
  | { readonly kind: "app"; readonly slug: string; readonly name: string | null }
  /** `host`: of the client's address; null: the client is registered. */
  | { readonly kind: "connection"; readonly name: string; readonly host: string | null }
  | { readonly kind: "token"; readonly name: string | null };

/** The columns of a job that say what started it. */
export interface StarterColumns {
  readonly allowance_path: string | null;
  readonly started_by_json: string | null;
}

/** As the API shows it. `root_id`: of the allowance that the person approved, if `id` was exchanged from it. */
export type StartedBy =
  | { readonly kind: "browser"; readonly id: null; readonly name: null }
  | { readonly kind: "app"; readonly id: string; readonly name: string | null }
  | {
      readonly kind: "connection" | "token";
      readonly id: string;
      readonly root_id?: string | undefined;
      readonly name: string | null;
    };

/**
 * The app through which a caller acts: that of its key, or of the page that its session acts through. A page may belong to
 * several apps; then it acts for the app of the job, if that is one of them. Null: no app, or several others.
 */
export function startingApp(
  caller:
    | { readonly kind: "app"; readonly app_slug: string }
    | { readonly kind: "page"; readonly app_slugs: readonly string[] | null },
  job_app: string,
): string | null {
  if (caller.kind === "app") return caller.app_slug;
  const app_slugs = caller.app_slugs ?? [];
  if (app_slugs.includes(job_app)) return job_app;
  return app_slugs.length === 1 ? (app_slugs[0] ?? null) : null;
}

const BROWSER: StartedBy = { kind: "browser", id: null, name: null };

export function starterOf({ started_by_json }: StarterColumns): Starter | null {
  return started_by_json === null ? null : (JSON.parse(started_by_json) as Starter);
}

export function startedBy(job: StarterColumns): StartedBy {
  const starter = starterOf(job);
  if (starter === null) return BROWSER;
  const { kind, name } = starter;
  if (kind === "app") return { kind, id: starter.slug, name };
  const path = job.allowance_path ?? "";
  const [id = ""] = idsOfPath(path);
  const root_id = rootOfPath(path);
  return { kind, id, ...(root_id === id ? {} : { root_id }), name };
}

const NAMELESS_TOKEN = JSON.stringify({ kind: "token", name: null } satisfies Starter);

/** The column `from_json` of a job whose reader may not see where its credits came from: JSON's null. */
export const FROM_NOT_SHOWN = "null";

/** A job without the name of the person's token that started it: the name of an app or a client stays. */
export function withoutTokenName<Row extends StarterColumns>(row: Row): Row {
  return starterOf(row)?.kind === "token" ? { ...row, started_by_json: NAMELESS_TOKEN } : row;
}

/** A job as an app's key may see it: also without where its credits came from. */
export function forApp<Row extends StarterColumns>(row: Row): Row {
  const shown = withoutTokenName(row);
  return "from_json" in shown ? { ...shown, from_json: FROM_NOT_SHOWN } : shown;
}
