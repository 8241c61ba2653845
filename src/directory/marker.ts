/**
 * Whether `DIRECTORY` is the database with which this service began. It has a random id, and the canary's object keeps the
 * same one. A database that was created again has none, so nobody signs in there as a new person with an empty account.
 */

/** An operator writes this in place of the id, to accept another database: see docs/operate.md. */
const ACCEPTED = "accepted";

/** Keeps the id if the canary has none yet. @returns the id that the canary has. */
type KeepMarker = (id: string) => Promise<string>;

/** @throws if the directory cannot be reached, or {@link DirectoryReplaced}. */
export async function checkMarker(database: D1Database, keepInCanary: KeepMarker): Promise<void> {
  const own = (await readMarker(database)) ?? (await createMarker(database));
  const candidate = own === ACCEPTED ? crypto.randomUUID() : own;
  // The check `account` is about a canary that does not respond.
  const kept = await keepInCanary(candidate).catch(() => null);
  if (kept === null || kept === own) return;
  if (own !== ACCEPTED) throw new DirectoryReplaced();
  await database.prepare("update directory_marker set id = ?1").bind(kept).run();
}

function readMarker(database: D1Database): Promise<string | null> {
  return database.prepare("select id from directory_marker").first("id");
}

/** Several isolates may try this at once, and the first one's id stays. */
async function createMarker(database: D1Database): Promise<string> {
  await database
    .prepare("insert or ignore into directory_marker (one, id) values (1, ?1)")
    .bind(crypto.randomUUID())
    .run();
  const id = await readMarker(database);
  if (id === null) throw new Error("the directory kept no marker");
  return id;
}

class DirectoryReplaced extends Error {
  override readonly name = "directory_replaced";
}
