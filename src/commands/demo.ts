/**
 * `npm run demo`: starts the Worker with temporary state, runs the typical flow, prints each request and response, and
 * stops the Worker. Exits with 1 if a response is not what the spec says.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runTypicalFlow } from "./demo_flow.ts";
import { developmentSettings } from "./development_settings.ts";
import { freePort, startLocalWorker } from "./local_worker.ts";

const folder = await mkdtemp(join(tmpdir(), "passbook-demo-"));
try {
  const env_file = join(folder, "settings");
  await writeFile(env_file, await developmentSettings(), { mode: 0o600 });
  console.log("Starting Passbook on a free port, with an empty database …");
  const worker = await startLocalWorker({
    port: await freePort(),
    persist_to: join(folder, "state"),
    env_file,
  });
  try {
    console.log(`Running at ${worker.url}\n`);
    const mismatches = await runTypicalFlow(worker.url);
    if (mismatches === 0) {
      console.log("Every response is what the spec says.");
    } else {
      console.error(`${mismatches} of the responses above are not what the spec says.`);
      process.exitCode = 1;
    }
  } finally {
    await worker.stop();
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
