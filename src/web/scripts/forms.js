// Sends a form only once: after a double click, only the first response would show a new key.
(() => {
  const sent = new Set();
  addEventListener("submit", (event) => {
    if (sent.has(event.target)) event.preventDefault();
    sent.add(event.target);
  });
  addEventListener("pageshow", () => sent.clear());
})();
