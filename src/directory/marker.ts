/**
 * Whether `DIRECTORY` is the database with which this service began. It has a random id, and the canary's object keeps the
 * same one. A database that was created again has none, so `/readyz` finds that it replaced a lost one. Until it is rebuilt,
 * `is_whole` is not true, and a sign-in looks for its person in the archive: see `identity/builtin/kept_people.ts`.
 */

/** An operator, or the rebuild, writes this in place of the id, to accept another database: see docs/operate.md. */
const ACCEPTED = "accepted";

/** Keeps the id if the canary has none yet. @returns the id that the canary has. */
type KeepMarker = (id: string) => Promise<string>;

/** @throws if the directory cannot be reached, or {@link DirectoryReplaced}. */
export async function checkMarker(database: D1Database, keepInCanary: KeepMarker): Promise<void> {
  const { id: own, is_whole } = (await readMarker(database)) ?? (await createMarker(database));
  const candidate = own === ACCEPTED ? crypto.randomUUID() : own;
  // The check `account` is about a canary that does not respond.
  const kept = await keepInCanary(candidate).catch(() => null);
  if (kept === null || (kept === own && is_whole !== null)) return;
  if (kept !== own && own !== ACCEPTED) throw new DirectoryReplaced();
  // An accepted database lacks people, unless an operator has rebuilt it.
  await database
    .prepare("update directory_marker set id = ?1, is_whole = coalesce(is_whole, ?2)")
    .bind(kept, kept === own ? 1 : 0)
    .run();
}

interface Marker {
  readonly id: string;
  readonly is_whole: number | null;
}

function readMarker(database: D1Database): Promise<Marker | null> {
  return database.prepare("select id, is_whole from directory_marker").first<Marker>();
}

/** Several isolates may try this at once, and the first one's id stays. */
async function createMarker(database: D1Database): Promise<Marker> {
  await database
    .prepare("insert or ignore into directory_marker (one, id) values (1, ?1)")
    .bind(crypto.randomUUID())
    .run();
  const marker = await readMarker(database);
  if (marker === null) throw new Error("the directory kept no marker");
  return marker;
}

class DirectoryReplaced extends Error {
  override readonly name = "directory_replaced";
}
