/**
 * `npm run alerts [-- --config <file>] [-- --json]`
 *
 * Prints the alerts to create in Cloudflare's dashboard, in addition to `ALERT_WEBHOOK_URL`. Cloudflare documents no API
 * that creates an alert on Workers Logs, so this command calls nothing and needs no API token.
 */
import { parseArgs } from "node:util";
import { alertsOf } from "./alert_list.ts";
import { CONFIG_FILE, readWorkerConfig } from "./wrangler_config.ts";

const { values: options } = parseArgs({
  options: {
    config: { type: "string", default: CONFIG_FILE },
    json: { type: "boolean", default: false },
  },
});

const { name } = readWorkerConfig(options.config);
// It becomes part of a query, and Cloudflare allows no other names.
if (name === undefined || !/^[a-z0-9-]{1,63}$/.test(name)) {
  throw new Error(`${options.config} needs a name of a-z, 0-9 and -: the Worker's.`);
}
const alerts = alertsOf(name);

if (options.json) {
  console.log(JSON.stringify(alerts, null, 2));
} else {
  const listed = alerts.map(({ figure, sql, threshold, window_minutes, runbook }) =>
    [
      `${name} ${figure}`,
      `  fires     above ${threshold} in ${window_minutes} minutes`,
      `  query     ${sql}`,
      `  runbook   ${runbook}`,
    ].join("\n"),
  );
  console.log(
    [
      "Set the secret ALERT_WEBHOOK_URL first: the schedule then sends every one of these by itself.",
      "These alerts also fire if the Worker cannot run its schedule. Create each in Cloudflare's dashboard",
      "under Alerts, Create an alert, Custom alert, Custom SQL, and send a test from there:",
      "",
      listed.join("\n\n"),
      "",
      "If a query finds nothing, compare the names of its attributes with a line of the Worker's log.",
    ].join("\n"),
  );
}
