/** Empties the stores of a development service. Their tables stay. */

/** The ids of all people. */
export async function listIdentities(directory: D1Database): Promise<readonly string[]> {
  const { results } = await directory
    .prepare("select id from users")
    .run<{ readonly id: string }>();
  return results.map(({ id }) => id);
}

/** Deletes every row of a database, but not the list of its migrations. */
export async function emptyDatabase(database: D1Database): Promise<void> {
  const tables = await database
    .prepare("select name from sqlite_master where type = 'table'")
    .run<{ readonly name: string }>();
  const emptied = tables.results
    .map(({ name }) => name)
    .filter((name) => !/^(sqlite_|_cf_|d1_)/.test(name));
  await database.batch([
    database.prepare("pragma defer_foreign_keys = on"),
    // Twice, because triggers write rows during the first time.
    ...[...emptied, ...emptied].map((name) => database.prepare(`delete from "${name}"`)),
  ]);
}

/** Deletes every file of a bucket. */
export async function emptyBucket(bucket: R2Bucket | undefined): Promise<void> {
  for (;;) {
    const { objects = [] } = (await bucket?.list()) ?? {};
    if (objects.length === 0) return;
    await bucket?.delete(objects.map(({ key }) => key));
  }
}

/** Deletes every key of a namespace. */
export async function emptyNamespace(namespace: KVNamespace): Promise<void> {
  for (;;) {
    const { keys } = await namespace.list();
    if (keys.length === 0) return;
    for (const { name } of keys) await namespace.delete(name);
  }
}
