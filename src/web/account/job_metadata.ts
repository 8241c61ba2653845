/** The parts of a job's metadata that pages show. Clients write it, so only safe values are used. */
import type { JobRow } from "../../account/contract.ts";

/** The longest description and the longest image address that a page shows, in UTF-16 code units. */
const JOB_DESCRIPTION_SHOWN_MAX = 160;
const PREVIEW_URL_MAX_LENGTH = 2_048;

type Metadata = Readonly<Record<string, unknown>>;

export function readMetadata(json: string | null): Metadata {
  return json === null ? {} : (JSON.parse(json) as Metadata);
}

/** The one name of a job, on every page: the client's description, or the action. */
export function titleOf({
  action,
  metadata_json,
}: Pick<JobRow, "action" | "metadata_json">): string {
  return descriptionOf(readMetadata(metadata_json)) ?? action;
}

/** The client's `description` (spec, "Job"); null if it is missing or blank. */
function descriptionOf({ description }: Metadata): string | null {
  if (typeof description !== "string" || description.trim() === "") return null;
  const text = description.trim();
  return text.length <= JOB_DESCRIPTION_SHOWN_MAX
    ? text
    : `${text.slice(0, JOB_DESCRIPTION_SHOWN_MAX - 1)}…`;
}

/** The client's `previewUrl` if it is a plain https address, otherwise null. */
export function previewOf({ previewUrl }: Metadata): string | null {
  if (typeof previewUrl !== "string" || previewUrl.length > PREVIEW_URL_MAX_LENGTH) return null;
  const url = URL.parse(previewUrl);
  const plain = url?.protocol === "https:" && url.username === "" && url.password === "";
  return url !== null && plain ? url.href : null;
}
