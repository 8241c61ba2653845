// Follows the account while the page is open: the balance at once, the rest of the page from the
// server a moment later. Without this script the page is as true as when it was opened.
(() => {
  const page = document.querySelector("[data-live-after]");
  if (page === null || typeof EventSource === "undefined") return;
  const number = new Intl.NumberFormat("en-GB");
  const shown = (value) => number.format(value).replace("-", "\u2212");
  let due;
  let busy = false;

  const refresh = async () => {
    due = undefined;
    if (busy || document.hidden) return;
    busy = true;
    try {
      const answer = await fetch(location.pathname + location.search, {
        headers: { Accept: "text/html" },
      });
      // Signed out meanwhile: the page goes where the server says.
      if (answer.redirected) return location.reload();
      if (!answer.ok) return;
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const part of document.querySelectorAll("[data-live]")) {
        const next = fresh.getElementById(part.id);
        // What a person is using stays as it is.
        if (next === null || part.contains(document.activeElement)) continue;
        if (part.querySelector("details[open]") !== null) continue;
        if (next.innerHTML !== part.innerHTML) part.replaceWith(next);
      }
      document.dispatchEvent(new Event("passbook:refreshed"));
    } catch {
      // Without a connection the page stays as it is; the stream comes back by itself.
    } finally {
      busy = false;
    }
  };
  const soon = () => {
    due ??= setTimeout(() => void refresh(), 1200);
  };

  let last_line = Number(page.dataset.liveAfter);
  let source;
  let pause_ms = 2_000;
  const follow = () => {
    source = new EventSource(`/api/events?after=${last_line}`);
    source.addEventListener("message", ({ data }) => {
      const { line, credits } = JSON.parse(data);
      pause_ms = 2_000;
      if (line <= last_line) return;
      last_line = line;
      const place = document.querySelector("[data-credits]");
      if (place !== null) place.textContent = shown(credits);
      soon();
    });
    source.addEventListener("error", () => {
      // A lost stream comes back by itself; a refused one does not. The page says whether it is over.
      if (source.readyState !== EventSource.CLOSED) return;
      soon();
      setTimeout(follow, pause_ms);
      pause_ms = Math.min(2 * pause_ms, 300_000);
    });
  };
  follow();
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) soon();
  });
  addEventListener("pagehide", () => source.close());
  addEventListener("pageshow", ({ persisted }) => persisted && location.reload());
})();
