// Adds "select all on this page" and the number of selected rows to a list with checkboxes. Without this script, each row
// is selected by itself.
(() => {
  const all = document.querySelector("[data-select-all]");
  if (all === null) return;
  const count = document.querySelector("[data-selected]");
  const boxes = () => [...all.form.querySelectorAll("input[name=id]")];
  const show = () => {
    const selected = boxes().filter(({ checked }) => checked).length;
    all.checked = selected > 0 && selected === boxes().length;
    all.indeterminate = selected > 0 && !all.checked;
    count.textContent = selected === 0 ? "" : count.dataset.selected.replace("{count}", selected);
  };
  all.form.addEventListener("change", ({ target }) => {
    if (target === all) for (const box of boxes()) box.checked = all.checked;
    show();
  });
  document.addEventListener("passbook:refreshed", show);
  addEventListener("pageshow", show);
  all.closest("label").classList.add("is-ready");
})();
