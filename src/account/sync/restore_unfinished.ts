/**
 * A restore of the account is not finished, so its storage may be that of the earlier time. What follows from it outside may
 * exist already: it waits, until an operator repeats the command.
 */
export class RestoreUnfinished extends Error {
  override readonly name = "restore_unfinished";

  constructor() {
    super("a restore of the account is not finished");
  }
}

/**
 * The read model has another account of the identity, which the archive has too: the platform lost its storage. Its row is what
 * a restore from the archive begins with, so it stays until an operator restores the account, or has this one sent again.
 */
export class StorageLost extends Error {
  override readonly name = "storage_lost";

  constructor() {
    super("the storage of an archived account was lost");
  }
}
