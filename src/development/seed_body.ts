/** The body of `POST /dev/seed`, which is also what the kit for testing takes. */
import * as z from "zod/mini";
import { SETTLERS } from "../domain/app_policy.ts";
import { parseAbsoluteUrl, originOf } from "../domain/origins.ts";
import { appSlug, cost } from "../fields.ts";

/** One seed has no more apps or people: each costs several requests to stores. */
const SEEDED_MAX = 100;

const email = z.email("must be an e-mail address").check(z.maxLength(254));

const app = z.union([
  appSlug,
  z.strictObject({
    slug: appSlug,
    name: z.optional(z.string().check(z.minLength(1), z.maxLength(200))),
    settle: z.optional(z.enum(SETTLERS, "must be holder or app")),
    starter_credits: z.optional(cost),
  }),
]);

const person = z.union([
  email,
  z.strictObject({
    email,
    credits: z.optional(cost),
    origin: z.optional(
      z.string().check(
        z.refine((text) => {
          const url = parseAbsoluteUrl(text);
          return url !== null && originOf(url) === text;
        }, "must be an origin such as http://localhost:5173"),
      ),
    ),
  }),
]);

export const seedBody = z.strictObject({
  apps: z._default(z.array(app).check(z.maxLength(SEEDED_MAX)), []),
  people: z._default(z.array(person).check(z.maxLength(SEEDED_MAX)), []),
  credits: z._default(cost, 0),
});

export type SeedBody = z.output<typeof seedBody>;
