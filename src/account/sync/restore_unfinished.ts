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
