/**
 * What only development has: `POST /dev/clock`, `/dev/reset`, `/dev/seed` and `/dev/give`. They are 404 unless `DEV_SIGNIN`
 * is true, and like the development sign-in they need a request to a loopback host that no foreign page sent.
 */
import type { Hono } from "hono";
import * as z from "zod/mini";
import { cost } from "../fields.ts";
import { DAY_MS } from "../domain/calendar.ts";
import { factory, type AppContext, type AppEnvironment } from "../http/context.ts";
import { isLoopbackRequest } from "../http/middleware/canonical_host.ts";
import { noStore } from "../http/middleware/headers.ts";
import { isFromForeignPage } from "../http/middleware/origins.ts";
import { refuse } from "../http/refusals.ts";
import { limitBodySize, requireJsonBody, validBody } from "../http/validation.ts";
import { timestamp } from "../http/views.ts";
import { upkeepOf } from "../services.ts";
import { resetClock } from "./clock.ts";
import { currentEnvironment, forgetServices } from "./environment.ts";
import { fireAlarmsUntil, wipeObjects } from "./objects.ts";
import { seedBody } from "./seed_body.ts";
import { giveCredits, seed } from "./seed.ts";
import { emptyBucket, emptyDatabase, emptyNamespace, listIdentities } from "./stores.ts";

/** Years are enough for every expiry, and a mistyped number of milliseconds is refused. */
const ADVANCE_MAX_SECONDS = (10 * 366 * DAY_MS) / 1000;

/** The schedule of wrangler.toml runs every ten minutes. */
const SCHEDULE_SECONDS = 600;

const clockBody = z.strictObject({
  advance_seconds: z
    .int("must be a whole number of seconds")
    .check(
      z.gte(0, "must not be negative: time does not go back, except by /dev/reset"),
      z.lte(ADVANCE_MAX_SECONDS, `must be at most ${ADVANCE_MAX_SECONDS}`),
    ),
});

const giveBody = z.strictObject({
  email: z.email("must be an e-mail address"),
  credits: cost.check(z.gte(1, "must be at least 1")),
});

const guardDevelopment = factory.createMiddleware(async (context, next) => {
  if (!context.get("services").config.dev_signin) return refuse(context, { code: "not_found" });
  if (!isLoopbackRequest(context)) return refuse(context, { code: "loopback_required" });
  if (await isFromForeignPage(context)) return refuse(context, { code: "origin_not_allowed" });
  return next();
});

/** Adds the endpoints. */
export function addDevelopmentEndpoints(app: Hono<AppEnvironment>): void {
  app.use("/dev/*", noStore, guardDevelopment);
  const json = [requireJsonBody, limitBodySize] as const;
  app.post("/dev/clock", ...json, validBody(clockBody), async (context) => {
    await advance(context, context.req.valid("json").advance_seconds);
    return context.json({ now: timestamp(Date.now()) });
  });
  app.post("/dev/reset", ...json, validBody(z.strictObject({})), async (context) => {
    await reset(context);
    return context.json({ now: timestamp(Date.now()) });
  });
  app.post("/dev/seed", ...json, validBody(seedBody), async (context) =>
    context.json(await seed(context, context.req.valid("json"))),
  );
  app.post("/dev/give", ...json, validBody(giveBody), async (context) => {
    const { email, credits } = context.req.valid("json");
    return context.json(await giveCredits(context, email, credits));
  });
}

/** Fires the alarms on the way. Then the schedule runs once, if it would have run. */
async function advance(context: AppContext, seconds: number): Promise<void> {
  await fireAlarmsUntil(context.env, Date.now() + seconds * 1000);
  if (seconds >= SCHEDULE_SECONDS) await upkeepOf(currentEnvironment(context.env))();
}

async function reset({ env }: AppContext): Promise<void> {
  const identity_ids = await listIdentities(env.DIRECTORY);
  await wipeObjects(env, identity_ids);
  for (const database of [env.DIRECTORY, env.DB]) await emptyDatabase(database);
  for (const namespace of [env.DEVICE_CODES, env.CLIENT_DOCUMENTS]) await emptyNamespace(namespace);
  // It would bring the people back.
  await emptyBucket(env.ARCHIVE);
  resetClock();
  forgetServices();
}
