/** A line that says what was just done. */
import { NOTICES, type Notice } from "./words.ts";

export function NoticeLine({ notice }: { notice: Notice | null }) {
  if (notice === null) return null;
  return (
    <p class="notice" role="status">
      {NOTICES[notice]}
    </p>
  );
}
