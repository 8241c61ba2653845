/** Says how many rows were added to a list since its page was opened. Empty until `scripts/live.js` fills it. */
export function NewRows() {
  return <p class="new-rows" data-live-new aria-live="polite"></p>;
}
