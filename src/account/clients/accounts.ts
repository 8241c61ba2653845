/** Reaching an account's object. The name is the identity, so no look-up stands before it. */
import type { Account } from "../object.ts";

/** Gives the account of an identity; calling one of its methods is one hop. */
export type Accounts = (identity_id: string) => DurableObjectStub<Account>;

/** The accounts behind a Durable Object binding. */
export function createAccounts(binding: DurableObjectNamespace<Account>): Accounts {
  return (identity_id) => binding.getByName(identity_id);
}
