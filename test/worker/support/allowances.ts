import { env } from "cloudflare:workers";
import { DEFAULT_POLICY } from "../../../src/domain/app_policy.ts";
import { DAY_MS } from "../../../src/domain/calendar.ts";

/** The caller with a personal access token. */
export const withToken = (allowance_id: string) =>
  ({ kind: "allowance", credential: { kind: "allowance", allowance_id } }) as const;

/** What a personal access token proves. */
export const proofOf = (allowance_id: string) =>
  ({ kind: "personal_token", credential: { kind: "allowance", allowance_id } }) as const;

/** Issues a token without limits, which expires after a day, at the account itself. */
export const issueToken = (identity_id: string, id: string, changes: object = {}) =>
  env.ACCOUNT.getByName(identity_id).issueAllowance(
    { kind: "holder" },
    {
      id,
      label: id,
      app_slug: null,
      limits: { access: "write", upstream: false, admin: false, app_slugs: null, caps: [] },
      session_id: "session",
      signin_method: "dev",
      ends_with_session: false,
      expires_at_ms: Date.now() + DAY_MS,
      ...changes,
    },
  );

/** A request for a job of `demo` that costs nothing, at the account itself. */
export const JOB_REQUEST = {
  app_slug: "demo",
  policy: DEFAULT_POLICY,
  action: "draw",
  metadata_json: null,
  cost_estimate: 0,
  ttl_seconds: 60,
} as const;
