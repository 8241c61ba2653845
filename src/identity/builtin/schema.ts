/** The tables of the built-in identity adapter, in D1 `DIRECTORY`: the truth about people. */
import { sql } from "drizzle-orm";
import { LANGUAGE_TAGS } from "../../domain/language.ts";
import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";

/** People. `id` is the `identity_id` of the API. */
export const users = sqliteTable(
  "users",
  {
    id: text().primaryKey(),
    name: text(),
    email: text(),
    /** The domain of `email` in lower case. A column, because drizzle-kit cannot write an index by an expression with commas. */
    email_domain: text().generatedAlwaysAs(sql`lower(substr(email, instr(email, '@') + 1))`, {
      mode: "virtual",
    }),
    email_verified: integer({ mode: "boolean" }).notNull().default(false),
    created_at_ms: integer().notNull(),
    /**
     * Whether the account still has to be opened without starter credits: the person deleted one before, or created
     * this one with a passkey.
     */
    opens_as_returned: integer({ mode: "boolean" }).notNull().default(false),
    /** The same for all accounts of a person, one after another. Random, so it identifies nobody. */
    person_id: text().notNull(),
    /** The SHA-256 of the recovery code; null: the person has none. */
    recovery_code_hash: text(),
    recovery_code_at_ms: integer(),
    /** The language that the person chose for pages; null: they chose none. */
    language: text({ enum: LANGUAGE_TAGS }),
  },
  (table) => [
    // Only people with a recovery code have a row in this index.
    uniqueIndex("users_recovery_code_hash")
      .on(table.recovery_code_hash)
      .where(sql`recovery_code_hash is not null`),
    // Operators search for people by the start of their address.
    index("users_email").on(sql`lower(${table.email})`),
    // And by its domain, newest first.
    index("users_email_domain").on(table.email_domain, table.created_at_ms),
    index("users_person_id").on(table.person_id),
  ],
);

/**
 * A person's sign-in methods: unique by (provider, subject), never by e-mail address. A subject is unique only
 * within one issuer, so the issuer is stored, and the client that it was given to. The columns of a passkey are null for
 * other methods; see `passkey_store.ts`.
 */
export const identities = sqliteTable(
  "identities",
  {
    provider: text().notNull(),
    subject: text().notNull(),
    user_id: text().notNull(),
    created_at_ms: integer().notNull(),
    issuer: text().notNull(),
    client_id: text().notNull(),
    /** The name that the person gave to the passkey. */
    passkey_name: text(),
    /** The COSE number of the signature algorithm. */
    algorithm: integer(),
    /** SubjectPublicKeyInfo in base64url. */
    public_key: text(),
    /** The authenticator's signature counter at the last use. */
    sign_count: integer(),
    last_used_at_ms: integer(),
  },
  (table) => [
    primaryKey({ columns: [table.provider, table.subject] }),
    index("identities_user_id").on(table.user_id),
    index("identities_provider_issuer").on(table.provider, table.issuer),
    // A token of a trusted issuer finds its person whatever the id of the issuer's provider is.
    index("identities_issuer_subject").on(table.issuer, table.subject),
  ],
);

/**
 * Pseudonyms of identities that were unlinked or deleted. A person who returns gets no second starter credits
 * and owes their debts.
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

/**
 * Debts of deleted accounts, until the person's next account owes them, or as long as they may change. See `debts.ts`.
 */
export const debts = sqliteTable(
  "debts",
  {
    person_id: text().notNull(),
    id: text().notNull(),
    credits: integer().notNull(),
    /** The user whose account takes over the debt; null: the person has not returned. */
    owed_by: text(),
    /** Whether that account has taken it over. */
    is_taken: integer({ mode: "boolean" }).notNull(),
    /** Whether refunds and disputes may still change it. */
    may_change: integer({ mode: "boolean" }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.person_id, table.id] })],
);

/**
 * Changes of people that the archive lacks. The triggers in `drizzle/directory.triggers.sql` write the rows, in the
 * transaction of each change; see `kept_people.ts`.
 */
export const unkept = sqliteTable(
  "unkept",
  {
    kind: text({ enum: ["user", "tombstone", "debts"] }).notNull(),
    /** The user's id, the tombstone's pseudonym, or the person's id. */
    id: text().notNull(),
    /** Random, another one with each change. */
    version: text().notNull(),
    due_at_ms: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.kind, table.id] }),
    index("unkept_due_at_ms").on(table.due_at_ms),
  ],
);

/** Browser sessions. Only the SHA-256 of the cookie's secret is stored. `id` is the `sid` of session tokens. */
export const sessions = sqliteTable(
  "sessions",
  {
    secret_hash: text().primaryKey(),
    id: text().notNull(),
    user_id: text().notNull(),
    created_at_ms: integer().notNull(),
    expires_at_ms: integer().notNull(),
    /** The sign-in method it was started with; null: it was unlinked since. */
    provider: text(),
    /** A description for its person, as of its last use. */
    browser: text(),
    city: text(),
    country: text(),
  },
  (table) => [
    uniqueIndex("sessions_id").on(table.id),
    index("sessions_user_id").on(table.user_id),
    // For deleting expired sessions. A session's end moves once a day, which costs two more written rows.
    index("sessions_expires_at_ms").on(table.expires_at_ms),
  ],
);
