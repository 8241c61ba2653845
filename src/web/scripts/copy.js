// Shows the buttons that copy a field, and copies it. Without this script, the person selects the text.
(() => {
  if (navigator.clipboard === undefined) return;
  for (const button of document.querySelectorAll("button[data-copy]")) {
    const field = document.getElementById(button.dataset.copy);
    button.hidden = false;
    button.setAttribute("aria-live", "polite");
    button.addEventListener("click", async () => {
      field.select();
      try {
        await navigator.clipboard.writeText(field.value);
        button.textContent = button.dataset.copied;
      } catch {
        button.textContent = button.dataset.byKey;
      }
    });
  }
})();
