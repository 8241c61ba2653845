/** What every number of the benchmark is held against: a Hono app that answers one line. */
import { Hono } from "hono";

export { Account, DeviceLogin } from "../../src/worker.ts";

const app = new Hono();
app.get("/.well-known/jwks.json", (context) => context.json({ keys: [] }));

export default app;
