// Sends a form only once: after a double click, only the first response would show a new key. And asks before one form of a
// console's page discards what was changed in another. Without this script, the page discards it.
(() => {
  const sent = new Set();
  const changed = new Set();
  let discards = false;
  addEventListener("input", ({ target }) => {
    if (target.form?.matches(".act")) changed.add(target.form);
  });
  addEventListener("submit", (event) => {
    if (sent.has(event.target)) event.preventDefault();
    sent.add(event.target);
    discards = [...changed].some((form) => form !== event.target && form.isConnected);
  });
  addEventListener("beforeunload", (event) => {
    if (!discards) return;
    discards = false;
    event.preventDefault();
    // Runs if the person stays.
    setTimeout(() => sent.clear());
  });
  addEventListener("pageshow", () => {
    sent.clear();
    changed.clear();
  });
})();
