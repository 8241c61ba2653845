// Sends a form only once: after a double click, only the first response would show a new key. And asks before one form of a
// console's page discards what was typed in another. Without this script, the page discards it.
(() => {
  const sent = new Set();
  let typed = new Set();
  // A form that is shown again with a problem has what was typed.
  const begin = () => {
    sent.clear();
    typed = new Set(document.querySelectorAll("form[data-discards]:has([aria-invalid])"));
  };
  begin();
  addEventListener("input", ({ target }) => {
    if (target.form?.dataset.discards !== undefined) typed.add(target.form);
  });
  addEventListener("submit", (event) => {
    const form = event.target;
    const other = [...typed].find((it) => it !== form && it.isConnected);
    if (sent.has(form) || (other !== undefined && !confirm(other.dataset.discards))) {
      event.preventDefault();
    } else {
      sent.add(form);
    }
  });
  addEventListener("pageshow", begin);
})();
