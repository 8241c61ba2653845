/** What crosses the RPC border of a StarterBudget object: plain values only. */

export interface ReserveRequest {
  /** The object's own day, in whole days since the epoch. */
  readonly day: number;
  /** Whose grant it is: a digest, the same for the same account. */
  readonly claimant: string;
  /** What the grant is worth, in credits; more than 0. */
  readonly credits: number;
  /** What all grants of the day may add up to, in credits, as the registry says now. */
  readonly budget: number;
}

export interface StarterBudgetOperations {
  /**
   * Sets credits apart for one account's grant, once: whoever asks again is told the same amount, so
   * that a lost answer books nothing twice.
   * @returns what is set apart, in credits; null where the budget has no room for it.
   */
  reserve(request: ReserveRequest): number | null;
}
