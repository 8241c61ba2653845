// Shows times in the reader's time zone, with UTC as their title, or all in UTC if the person chose that. Without this script,
// they are in UTC and labelled as such.
(() => {
  const own_zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const CHOICE = "times";
  const locale = document.documentElement.dataset.locale;
  let zone = own_zone;
  try {
    if (localStorage.getItem(CHOICE) === "UTC") zone = "UTC";
  } catch {
    // The browser keeps nothing for this site: the choice holds for this page.
  }
  const utc = new Intl.DateTimeFormat(locale, {
    dateStyle: "medium",
    timeStyle: "short",
    timeZone: "UTC",
  });
  const styles = {
    day: { dateStyle: "medium" },
    date: { day: "numeric", month: "short" },
    minute: { dateStyle: "medium", timeStyle: "short" },
    time: { hour: "2-digit", minute: "2-digit" },
    weekday: { weekday: "short", day: "numeric", month: "short" },
    clock: { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" },
  };
  /** Moves the names of days in a list to the reader's midnight. */
  const regroup = (list) => {
    const format = new Intl.DateTimeFormat(locale, { ...styles.weekday, timeZone: zone });
    const heading = list.querySelector(".day");
    let day;
    for (const item of list.querySelectorAll(":scope > li")) {
      const time = item.querySelector("time");
      if (item.classList.contains("day") || time === null) {
        item.remove();
        continue;
      }
      const name = format.format(new Date(time.dateTime));
      if (name !== day) {
        const copy = heading.cloneNode(true);
        copy.querySelector("time").dateTime = time.dateTime;
        item.before(copy);
        day = name;
      }
    }
  };
  const show = (root) => {
    for (const list of root.querySelectorAll("[data-days]")) regroup(list);
    for (const time of root.querySelectorAll("time[data-shown]")) {
      const style = styles[time.dataset.shown];
      const at = new Date(time.dateTime);
      if (style === undefined || Number.isNaN(at.getTime())) continue;
      time.textContent = new Intl.DateTimeFormat(locale, { ...style, timeZone: zone }).format(at);
      time.title = `${utc.format(at)} UTC`;
    }
    for (const label of root.querySelectorAll("[data-zone]")) {
      label.textContent = zone.replaceAll("_", " ");
    }
    for (const button of root.querySelectorAll("[data-zone-switch]")) {
      button.hidden = own_zone === "UTC";
      const other = zone === "UTC" ? own_zone.replaceAll("_", " ") : "UTC";
      button.textContent = button.dataset.zoneSwitch.replace("{zone}", other);
    }
  };
  document.addEventListener("click", ({ target }) => {
    if (target.dataset.zoneSwitch === undefined) return;
    zone = zone === "UTC" ? own_zone : "UTC";
    try {
      localStorage.setItem(CHOICE, zone === "UTC" ? zone : "own");
    } catch {
      // As above.
    }
    show(document);
  });
  show(document);
  document.addEventListener("passbook:refreshed", () => show(document));
})();
