// Shows times in the reader's time zone. Without this script, they are in UTC and labelled as such.
(() => {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const styles = {
    day: { dateStyle: "medium" },
    date: { day: "numeric", month: "short" },
    minute: { dateStyle: "medium", timeStyle: "short" },
    clock: { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" },
  };
  const show = (root) => {
    for (const time of root.querySelectorAll("time[data-shown]")) {
      const style = styles[time.dataset.shown];
      const at = new Date(time.dateTime);
      if (style === undefined || Number.isNaN(at.getTime())) continue;
      time.textContent = new Intl.DateTimeFormat("en-GB", style).format(at);
    }
    for (const label of root.querySelectorAll("[data-zone]")) {
      label.textContent = zone.replaceAll("_", " ");
    }
  };
  show(document);
  document.addEventListener("passbook:refreshed", () => show(document));
})();
