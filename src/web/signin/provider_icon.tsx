/** A small icon in front of a sign-in method: a simple drawing for known providers, or a door. */

/** Strokes in a box of 24 by 24. */
const DRAWINGS: Readonly<Record<string, string>> = {
  github:
    "M9 21v-3c-3 1-4-1-5-2m5-1c-6-1-6-7-3-9l-.5-3L9 4.5a12 12 0 0 1 6 0L18.5 3 18 6c3 2 3 8-3 9v6",
  google: "M12.5 12H20a8 8 0 1 1-2.4-5.7",
  x: "m5 5 14 14M19 5 5 19",
  passkey: "M13 15a5 5 0 1 0-3-3l-7 7v2h4v-2h2v-2h2zM15.5 8.5h.01",
};
const DOOR = "M14 4h5v16h-5M4 12h11m-4-4 4 4-4 4";

/** `id`: the id of the sign-in method. */
export function ProviderIcon({ id }: { readonly id: string }) {
  return (
    <svg class="provider" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
      <path d={Object.hasOwn(DRAWINGS, id) ? DRAWINGS[id] : DOOR} />
    </svg>
  );
}
