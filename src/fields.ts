/** Fields of bodies, queries and forms that several endpoints have, with the messages of their problems. */
import * as z from "zod/mini";
import { APP_SLUG_PATTERN } from "./domain/app_policy.ts";
import { JOB_STATUSES } from "./domain/job.ts";
import { COST_MAX_CREDITS, PAGE_DEFAULT_ROWS, PAGE_MAX_ROWS } from "./domain/limits.ts";
import { isMetadata, type Metadata } from "./domain/metadata.ts";
import { EXPIRES_AFTER_MAX_DAYS, LOT_APPS_MAX } from "./domain/lots.ts";
import { findInvisible } from "./domain/text.ts";

export const appSlug = z
  .string("must be a string")
  .check(
    z.regex(APP_SLUG_PATTERN, "must be 1 to 64 of a-z 0-9 . _ -, starting with a letter or digit"),
  );

/** After how many days credits expire. */
export const expiresAfterDays = z
  .int("must be a whole number of days")
  .check(
    z.gte(1, "must be at least 1"),
    z.lte(EXPIRES_AFTER_MAX_DAYS, `must be at most ${EXPIRES_AFTER_MAX_DAYS}`),
  );

/** The only apps that can use some credits, in the order of their names. */
export const lotApps = z.pipe(
  z.array(appSlug, "must be a list of apps' slugs").check(
    z.minLength(1, "must name at least one app; leave it out for all apps"),
    z.maxLength(LOT_APPS_MAX, `must name at most ${LOT_APPS_MAX} apps`),
    z.refine((slugs) => new Set(slugs).size === slugs.length, "must name each app once"),
  ),
  z.transform((slugs) => slugs.toSorted()),
);

/** A lone surrogate has no UTF-8 form, and other software ends text at a null character. */
export const wellFormed = z.refine<string>(
  (text) => text.isWellFormed() && !text.includes("\0"),
  "must be well-formed text",
);

/** Text that pages display: see `domain/text`. */
export const shownText = z.refine<string>((text) => findInvisible(text) === null, {
  error: ({ input }) => `must not contain the invisible character ${findInvisible(String(input))}`,
});

/** A short text that pages display, without blanks around it. `max_length`: in UTF-16 code units. */
export const shownUpTo = (max_length: number) =>
  z
    .string("must be a string")
    .check(
      z.trim(),
      z.minLength(1, "must not be empty"),
      z.maxLength(max_length, `must have at most ${max_length} characters`),
      wellFormed,
      shownText,
    );

export const jobId = z.pipe(
  z.uuid("must be a job's id"),
  z.transform((id) => id.toLowerCase()),
);

export const cost = z
  .int("must be a whole number")
  .check(
    z.gte(0, "must not be negative"),
    z.lte(COST_MAX_CREDITS, `must be at most ${COST_MAX_CREDITS}`),
  );

/** The number of a step of a job, from `min`. */
export const jobStep = (min: 0 | 1) =>
  z
    .int("must be a whole number")
    .check(
      z.gte(min, `must be at least ${min}`),
      z.lte(Number.MAX_SAFE_INTEGER, `must be at most ${Number.MAX_SAFE_INTEGER}`),
    );

/** Custom, since `z.record` would drop a `__proto__` key. */
export const metadata = z.custom<Metadata>(
  isMetadata,
  "must be a JSON object that is not nested too deeply",
);

/** A query parameter. A repeated one arrives as an array and is refused. */
export const queryText = z.string("must be given once");

/** An RFC 3339 time with any offset. */
export const dateTime = z
  .pipe(
    z.iso.datetime({ offset: true, error: "must be a time such as 2026-11-21T00:00:00Z" }),
    z.transform((text) => Date.parse(text)),
  )
  .check(z.refine(Number.isFinite, "must be a date and time that exist"));

/** The size of a page of a list, as a query parameter. */
export const pageLimit = z.pipe(
  z.pipe(
    z._default(
      queryText.check(z.regex(/^\d{1,3}$/, `must be a whole number from 1 to ${PAGE_MAX_ROWS}`)),
      String(PAGE_DEFAULT_ROWS),
    ),
    z.transform(Number),
  ),
  z
    .number()
    .check(
      z.gte(1, `must be from 1 to ${PAGE_MAX_ROWS}`),
      z.lte(PAGE_MAX_ROWS, `must be from 1 to ${PAGE_MAX_ROWS}`),
    ),
);

/** The parsed value, or `fallback` if it is missing or invalid. Not `z.catch`, which makes the bundle much larger. */
export const validOr = <const Fallback, Schema extends z.ZodMiniType>(
  fallback: Fallback,
  schema: Schema,
) =>
  z.transform((value: unknown): z.output<Schema> | Fallback => {
    const read = schema.safeParse(value);
    return read.success ? read.data : fallback;
  });

/** Longest name of a device client on the approval page, in UTF-16 code units. */
const CLIENT_NAME_MAX_LENGTH = 80;

/** The name of a device client, and the label of its token. */
export const clientName = z.string("must be a string").check(
  z.trim(),
  z.minLength(1, "must not be empty"),
  z.maxLength(CLIENT_NAME_MAX_LENGTH, `must have at most ${CLIENT_NAME_MAX_LENGTH} characters`),
  // Control and format characters could hide or reverse text that the approver reads. Characters without a
  // visible form (fillers, selectors, the blank Braille pattern) could make a name look empty.
  z.regex(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{DI}\u2800\u{1d159}]*$/u, "must be plain text"),
  z.regex(/[\p{L}\p{N}\p{P}\p{S}]/u, "must have a visible character"),
);

/** The starter of jobs: the id of an allowance, or an app's slug. Ids of allowances have the form of a slug. */
export const starterId = z
  .string("must be given once")
  .check(z.regex(APP_SLUG_PATTERN, "must be an app's slug, or the id of a connection or token"));

/** The filters of a list of jobs, and its page. */
export const job_filters = {
  app: z.optional(appSlug),
  status: z.optional(
    z.enum(
      JOB_STATUSES,
      "must be started, completed or failed; a job that expired or was cancelled is failed, and its `failure` says why",
    ),
  ),
  by: z.optional(starterId),
  from: z.optional(dateTime),
  to: z.optional(dateTime),
  limit: pageLimit,
  cursor: z.optional(z.uuid("must be a next_cursor of this list")),
};
