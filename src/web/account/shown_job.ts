/** A job made ready for a page. Its metadata is anybody's: only what is safe to show is taken. */
import type { JobRow } from "../../account/contract.ts";
import type { ShownJob } from "./job_card.tsx";

/** Longest part of a job's `description` that a page shows, in UTF-16 code units, and longest address of its picture. */
const JOB_DESCRIPTION_SHOWN_MAX = 160;
const PREVIEW_URL_MAX_LENGTH = 2_048;

export function shownJob(row: JobRow, appName: (slug: string | null) => string): ShownJob {
  const { id, action, status, failure, failure_reason, reserved, actual_cost, created_at_ms } = row;
  const metadata = readMetadata(row.metadata_json);
  return {
    id,
    app_name: appName(row.app_slug),
    action,
    description: descriptionOf(metadata),
    preview_url: previewOf(metadata),
    status,
    failure,
    failure_reason,
    reserved,
    actual_cost,
    created_at_ms,
  };
}

function readMetadata(json: string | null): Readonly<Record<string, unknown>> {
  return json === null ? {} : (JSON.parse(json) as Record<string, unknown>);
}

/** The client's `description` (spec, "Job"); null where it gave none that says anything. */
export function descriptionOf(metadata: Readonly<Record<string, unknown>>): string | null {
  const { description } = metadata;
  if (typeof description !== "string" || description.trim() === "") return null;
  const text = description.trim();
  return text.length <= JOB_DESCRIPTION_SHOWN_MAX
    ? text
    : `${text.slice(0, JOB_DESCRIPTION_SHOWN_MAX - 1)}…`;
}

/** The client's `previewUrl` where it is a plain https address; null for anything else. */
export function previewOf(metadata: Readonly<Record<string, unknown>>): string | null {
  const { previewUrl } = metadata;
  if (typeof previewUrl !== "string" || previewUrl.length > PREVIEW_URL_MAX_LENGTH) return null;
  const url = URL.parse(previewUrl);
  const plain = url?.protocol === "https:" && url.username === "" && url.password === "";
  return url !== null && plain ? url.href : null;
}
