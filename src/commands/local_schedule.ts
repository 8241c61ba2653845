/** Cloudflare runs the Worker's schedule; Wrangler's local server waits for a request that does. */

/** The schedule of the lists, the figures of health and everything else that is late by minutes. */
const CRON = "*/10 * * * *";
const PERIOD_MS = 10 * 60_000;

/** Runs the schedule of the local service now and every ten minutes, until this process ends. */
export function runScheduleAt(port: number): void {
  // Wrangler accepts this path under a local name only.
  const address = new URL("/cdn-cgi/handler/scheduled", `http://localhost:${port}`);
  address.searchParams.set("cron", CRON);
  // A run that fails is in the log of the Worker. The server may have been stopped.
  const run = () => void fetch(address).catch(() => undefined);
  run();
  setInterval(run, PERIOD_MS).unref();
}
