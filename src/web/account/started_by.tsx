/** The starter of a job, as its holder and operators see it. */
import type { JobRow } from "../../account/contract.ts";
import { startedBy, starterOf, type StarterColumns } from "../../domain/started_by.ts";
import { rich, t } from "../language/text.tsx";
import { nameFromSlug } from "../layout/labels.ts";
import { currentShell } from "../layout/shell.ts";

/** The text of {@link startedBy}: "Lantern, not registered here". Null: the holder in a browser. */
export function starterText(job: StarterColumns): string | null {
  const starter = starterOf(job);
  switch (starter?.kind) {
    case undefined:
      return null;
    case "app":
      return starter.name ?? nameFromSlug(starter.slug);
    case "token":
      return t("token “{name}”", { name: String(starter.name) });
    case "connection": {
      const { name, host } = starter;
      return host === null || host === currentShell().host
        ? name
        : t("{name}, not registered here", { name });
    }
  }
}

/** The starter of a job, unless its own app or the holder started it. */
function otherStarter(job: JobRow): string | null {
  return startedBy(job).id === job.app_slug ? null : starterText(job);
}

/** "by Lantern", with a link to the place where its holder stops it, and a full stop. Nothing if the app itself started it. */
export function ByLink({ job }: { job: JobRow }) {
  return otherStarter(job) === null ? null : (
    <>{rich("Started by {starter}.", { starter: <StartedBy job={job} /> })} </>
  );
}

/** The starter of a job, in a list that names its app anyway: "by Lantern". Nothing if the app itself started it. */
export function By(props: {
  readonly job: JobRow | null;
  /** What stands before it. */
  readonly before?: string;
  readonly class?: string;
}) {
  const { job, before = "" } = props;
  const text = job === null ? null : otherStarter(job);
  if (text === null) return null;
  return <span class={props.class}>{before + t("by {starter}", { starter: text })}</span>;
}

/** The starter of a job, with a link to where its holder sees and stops it. */
export function StartedBy({ job }: { job: StarterColumns }) {
  const { kind, id } = startedBy(job);
  const text = starterText(job);
  if (id === null || text === null) return <>{t("You, in a browser")}</>;
  return <a href={accessPath(kind, id)}>{text}</a>;
}

const accessPath = (kind: string, id: string): string =>
  kind === "app" ? `/account/access#app-${id}` : `/account/access#${id}`;
