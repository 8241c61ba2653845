/** The built-in identity provider's tables, in D1 `DIRECTORY`: the truth about people. */
import { sql } from "drizzle-orm";
import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";

/** People, as the built-in identity provider knows them. `id` is the `identity_id` of the API. */
export const users = sqliteTable(
  "users",
  {
    id: text().primaryKey(),
    name: text(),
    email: text(),
    email_verified: integer({ mode: "boolean" }).notNull().default(false),
    created_at_ms: integer().notNull(),
    /** Whether their account is still to be opened as that of someone who deleted one before. */
    opens_as_returned: integer({ mode: "boolean" }).notNull().default(false),
    /** The same for all accounts that a person had, one after another; random, so that it names nobody. */
    person_id: text().notNull(),
  },
  (table) => [
    // Operators look for people by the beginning of their address.
    index("users_email").on(sql`lower(${table.email})`),
    index("users_person_id").on(table.person_id),
  ],
);

/**
 * How a person signs in: unique by (provider, subject), never by e-mail address. A subject means
 * somebody to one issuer only, so that is kept beside it, with the client it was told to; null for
 * development's identities, and for rows older than the columns.
 */
export const identities = sqliteTable(
  "identities",
  {
    provider: text().notNull(),
    subject: text().notNull(),
    user_id: text().notNull(),
    created_at_ms: integer().notNull(),
    issuer: text(),
    client_id: text(),
  },
  (table) => [
    primaryKey({ columns: [table.provider, table.subject] }),
    index("identities_user_id").on(table.user_id),
    index("identities_provider_issuer").on(table.provider, table.issuer),
  ],
);

/**
 * Identities that were unlinked, or whose people deleted their account, by pseudonym: all that is kept of
 * them. A person who returns takes no starter credits again, and owes their debts.
 */
export const tombstones = sqliteTable(
  "tombstones",
  {
    pseudonym: text().primaryKey(),
    person_id: text().notNull(),
    left_at_ms: integer().notNull(),
  },
  (table) => [index("tombstones_person_id").on(table.person_id)],
);

/** What deleted accounts owed, until an account that the person returns with owes it. See `debts.ts`. */
export const debts = sqliteTable(
  "debts",
  {
    person_id: text().notNull(),
    id: text().notNull(),
    /** More than 0. */
    credits: integer().notNull(),
    /** The user whose account takes the debt over; null: the person has not returned. */
    owed_by: text(),
  },
  (table) => [primaryKey({ columns: [table.person_id, table.id] })],
);

/** Browser sessions. Only the SHA-256 of the cookie's secret is kept; `id` is the JWT's `sid`. */
export const sessions = sqliteTable(
  "sessions",
  {
    secret_hash: text().primaryKey(),
    id: text().notNull(),
    user_id: text().notNull(),
    created_at_ms: integer().notNull(),
    expires_at_ms: integer().notNull(),
    /** Which of the user's identities it came through; null: one that is unlinked since. */
    provider: text(),
    /** What is shown of it to its person, as of its last use; see `seen.ts`. */
    browser: text(),
    city: text(),
    country: text(),
  },
  (table) => [
    uniqueIndex("sessions_id").on(table.id),
    index("sessions_user_id").on(table.user_id),
    // For clearing away what ended: a session's end moves once a day, which is two written rows more.
    index("sessions_expires_at_ms").on(table.expires_at_ms),
  ],
);
