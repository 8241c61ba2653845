// A form is sent once: of a double click the first answer is the one that shows a new key.
(() => {
  const sent = new Set();
  addEventListener("submit", (event) => {
    if (sent.has(event.target)) event.preventDefault();
    sent.add(event.target);
  });
  addEventListener("pageshow", () => sent.clear());
})();
