// Keeps the sentence about money true while the person changes the fields. Without this script, it says what the form
// started with.
(() => {
  const form = document.querySelector("form[data-allowance]");
  if (form === null) return;
  const texts = form.dataset;
  const number = new Intl.NumberFormat(document.documentElement.dataset.locale);
  const chosen = (name) => form.querySelector(`input[name=${name}]:checked`)?.value;
  const creditsOf = (typed) =>
    /^\d+$/.test(typed)
      ? `${number.format(Number(typed))} ${typed === "1" ? texts.credit : texts.credits}`
      : `${typed} ${texts.credits}`;
  const caps = () =>
    [...form.querySelectorAll(".cap")].flatMap((row) => {
      const typed = row.querySelector("input").value.trim();
      const period = row.querySelector("select").selectedOptions[0].text;
      return typed === "" ? [] : [`${creditsOf(typed)} ${period}`];
    });
  const spending = () => {
    if (form.elements.credits === undefined) return null;
    if (chosen("access") === "read") return texts.read;
    const limits = caps();
    if (limits.length === 0) return texts.all;
    return texts.most.replace("{limits}", () => limits.join(` ${texts.and} `));
  };
  const apps = () => {
    const reach = chosen("reach");
    if (reach === undefined) return null;
    const ticked = [...form.querySelectorAll("input[name=app]:checked")];
    const typed = form.elements.other_apps.value.trim();
    const names = [...ticked.map((box) => box.dataset.name), ...(typed === "" ? [] : [typed])];
    if (reach === "all") return texts.allApps;
    return names.length === 0
      ? texts.noApp
      : texts.someApps.replace("{apps}", () => names.join(", "));
  };
  const end = () => form.elements.days?.selectedOptions[0].dataset.end ?? null;
  const show = () => {
    for (const [name, text] of Object.entries({ spending: spending(), apps: apps(), end: end() })) {
      if (text === null) continue;
      for (const shown of document.querySelectorAll(`[data-shown=${name}]`)) {
        shown.textContent = text;
        if (name === "spending") shown.classList.toggle("alarming", text === texts.all);
      }
    }
  };
  form.addEventListener("input", show);
  // The browser may have kept what was typed before the page was left.
  addEventListener("pageshow", show);
})();
