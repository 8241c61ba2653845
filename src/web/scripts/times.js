// Shows times in the reader's time zone. Without this script, they are in UTC and labelled as such.
(() => {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const styles = {
    day: { dateStyle: "medium" },
    date: { day: "numeric", month: "short" },
    minute: { dateStyle: "medium", timeStyle: "short" },
    time: { hour: "2-digit", minute: "2-digit" },
    weekday: { weekday: "long", day: "numeric", month: "long" },
    clock: { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" },
  };
  /** Moves the names of days in a list to the reader's midnight. */
  const regroup = (list) => {
    const format = new Intl.DateTimeFormat("en-GB", styles.weekday);
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
      time.textContent = new Intl.DateTimeFormat("en-GB", style).format(at);
    }
    for (const label of root.querySelectorAll("[data-zone]")) {
      label.textContent = zone.replaceAll("_", " ");
    }
  };
  show(document);
  document.addEventListener("passbook:refreshed", () => show(document));
})();
