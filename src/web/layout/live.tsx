import { template } from "../language/text.tsx";

/** Says how many rows were added to a list since its page was opened. Empty until `scripts/live.js` fills it. */
export function NewRows() {
  return (
    <p
      class="new-rows"
      data-live-new
      data-some={template("{count} new")}
      data-many={template("{count} or more new")}
      role="status"
    ></p>
  );
}

/** The pause between two polls of a console's list, in seconds. Lists that read a whole table are asked less often. */
export function pollSeconds({ reads_all }: { readonly reads_all: boolean }): number {
  return reads_all ? 120 : 20;
}
