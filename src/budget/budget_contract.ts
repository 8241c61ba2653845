/** The RPC interface of a StarterBudget object: plain values only. */

export interface ReserveRequest {
  /** The object's day, in whole days since the epoch. */
  readonly day: number;
  /** A digest of the identity that gets the grant. */
  readonly claimant: string;
  /** The amount of the grant, in credits; more than 0. */
  readonly credits: number;
  /** The app's budget of the day, in credits, as registered now. */
  readonly budget: number;
}

export interface StarterBudgetOperations {
  /**
   * Reserves credits for one account's grant, once. A repeated call returns the same amount, so a lost response
   * reserves nothing twice.
   * @returns the reserved credits; null: the budget has too few.
   */
  reserve(request: ReserveRequest): number | null;
}
