// Updates an open page: the balance immediately, and the other parts from the server about a second later. Above a list it
// says how many rows are new. Without this script, the page shows the state of when it was opened.
(() => {
  const page = document.querySelector("[data-live-after], [data-live-poll]");
  if (page === null) return;
  const number = new Intl.NumberFormat(document.documentElement.dataset.locale);
  const formatted = (value) => number.format(value).replace("-", "\u2212");
  let due;
  let busy = false;

  /** Rows of a list move only when the person loads them. A link says how many there are. */
  const countNew = (fresh) => {
    const note = document.querySelector("[data-live-new]");
    if (note === null) return;
    const ids = [...fresh.querySelectorAll("[data-live-list] > [id]")].map(({ id }) => id);
    const isKnown = (id) => document.getElementById(id) !== null;
    // Unknown rows after the last known one are old: they moved up.
    const last = ids.findLastIndex(isKnown);
    const count = (last === -1 ? ids : ids.slice(0, last)).filter((id) => !isKnown(id)).length;
    const { some, many } = note.dataset;
    const text =
      count === 0 ? "" : (last === -1 && count >= 20 ? many : some).replace("{count}", count);
    if (note.textContent === text) return;
    const link = document.createElement("a");
    link.href = location.pathname + location.search;
    link.textContent = text;
    note.replaceChildren(...(text === "" ? [] : [link]));
  };

  /** Says a change to screen readers: the sentence of a part that has another one now. */
  const say = (part, next) => {
    const [before, now] = [part, next].map((it) => it.querySelector("[data-say]")?.dataset.say);
    const said = document.querySelector("[data-said]");
    if (said !== null && now !== undefined && now !== before) said.textContent = now;
  };

  const refresh = async () => {
    due = undefined;
    if (busy || document.hidden) return;
    busy = true;
    try {
      const response = await fetch(location.pathname + location.search, {
        headers: { Accept: "text/html" },
      });
      // The person was signed out: load the page that the server redirects to.
      if (response.redirected) return location.reload();
      if (!response.ok) return;
      const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
      // Another language was chosen in another tab.
      if (fresh.documentElement.lang !== document.documentElement.lang) return location.reload();
      countNew(fresh);
      for (const part of document.querySelectorAll("[data-live]")) {
        const next = fresh.getElementById(part.id);
        // Do not replace a part that the person is using.
        if (next === null) continue;
        say(part, next);
        if (part.contains(document.activeElement)) continue;
        if (part.querySelector("details[open], input:checked") !== null) continue;
        if (next.innerHTML !== part.innerHTML) part.replaceWith(next);
      }
      document.dispatchEvent(new Event("passbook:refreshed"));
    } catch {
      // Without a connection the page stays as it is. The stream reconnects automatically.
    } finally {
      busy = false;
    }
  };
  const refreshSoon = () => {
    due ??= setTimeout(() => void refresh(), 1200);
  };
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) refreshSoon();
  });
  addEventListener("pageshow", ({ persisted }) => persisted && location.reload());

  // No stream has the entries of all accounts, so the console asks, for half an hour after the page was opened.
  if (page.dataset.livePoll !== undefined) {
    const until_ms = Date.now() + 1_800_000;
    const poll = setInterval(
      () => {
        if (Date.now() > until_ms) clearInterval(poll);
        else void refresh();
      },
      1000 * Number(page.dataset.livePoll),
    );
    return;
  }

  if (typeof EventSource === "undefined") return;
  let last_line = Number(page.dataset.liveAfter);
  let source;
  let pause_ms = 2_000;
  const follow = () => {
    source = new EventSource(`/api/events?after=${last_line}`);
    source.addEventListener("message", ({ data }) => {
      const { line, credits } = JSON.parse(data);
      pause_ms = 2_000;
      // An event without an entry, such as a job's progress, changes no balance.
      if (line === undefined) return refreshSoon();
      if (line <= last_line) return;
      last_line = line;
      const balance = document.querySelector("[data-credits]");
      if (balance !== null) balance.textContent = formatted(credits);
      refreshSoon();
    });
    source.addEventListener("error", () => {
      // The browser reconnects a lost stream, but not a refused one. A refresh shows whether the session ended.
      if (source.readyState !== EventSource.CLOSED) return;
      refreshSoon();
      setTimeout(follow, pause_ms);
      pause_ms = Math.min(2 * pause_ms, 300_000);
    });
  };
  follow();
  addEventListener("pagehide", () => source.close());
})();
