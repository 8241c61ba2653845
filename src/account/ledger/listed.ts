/** `isListed` of `domain/ledger.ts` as SQL. */
export const IS_LISTED = "(kind <> 'reserve' or amount <> 0 or previous_line is null)";
