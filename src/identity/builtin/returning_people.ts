/**
 * Sign-ins of people who deleted an account before: the new account is opened without starter credits, and gets the debts
 * of the old one, before it can be used. D1 remembers both until they are done, so the next sign-in completes an
 * interrupted one.
 */
import type { Debt, Session } from "../port.ts";
import { assignDebts, dropDebts } from "./debts.ts";
import type { IdentityStore, Origin } from "./identity_queries.ts";
import { link, type Linking } from "./linking.ts";
import type { Found, Users } from "./users.ts";

/** The calls to the accounts. Each may be repeated. */
export interface ReturningAccounts {
  /** Opens the account of a person who deleted one before. */
  readonly open_returned: (identity_id: string) => Promise<unknown>;
  /** Makes an account owe the debts of the person's deleted accounts. Returns whether it owes them now. */
  readonly owe_debts: (identity_id: string, debts: readonly Debt[]) => Promise<boolean>;
}

export class ReturningPeople {
  readonly #users: Users;
  readonly #store: IdentityStore;
  readonly #accounts: ReturningAccounts;

  constructor(users: Users, store: IdentityStore, accounts: ReturningAccounts) {
    this.#users = users;
    this.#store = store;
    this.#accounts = accounts;
  }

  /** As {@link Users.findOrCreate}. */
  async findOrCreate(...person: Parameters<Users["findOrCreate"]>) {
    return this.#welcome(await this.#users.findOrCreate(...person));
  }

  /** As {@link Users.findByToken}. */
  async findByToken(...person: Parameters<Users["findByToken"]>) {
    const found = await this.#users.findByToken(...person);
    return found.kind === "found" ? this.#welcome(found) : found;
  }

  /** As {@link link}. */
  async link(session: Session, origin: Origin): Promise<Linking> {
    // Of a person who is not back in the directory yet.
    await this.#store.copy.bringBack(origin);
    const linking = await link(this.#store, session, origin);
    if (linking.kind !== "linked") return linking;
    this.#store.copy.changed(session.identity_id);
    await this.#moveDebts(session.identity_id);
    return linking;
  }

  /** Prepares the account of a user who was found without these methods. */
  async prepare(user_id: string): Promise<void> {
    if (await this.#users.opensAsReturned(user_id)) await this.#open(user_id);
    await this.#moveDebts(user_id);
  }

  async #welcome(found: Found): Promise<Found> {
    if (found.kind !== "found") return found;
    if (found.opens_as_returned) await this.#open(found.user_id);
    await this.#moveDebts(found.user_id);
    return found;
  }

  async #open(user_id: string): Promise<void> {
    await this.#accounts.open_returned(user_id);
    await this.#users.markOpened(user_id);
  }

  async #moveDebts(user_id: string): Promise<void> {
    const { database, copy } = this.#store;
    const owed = await assignDebts(database, user_id);
    if (owed.length === 0) return;
    if (await this.#accounts.owe_debts(user_id, owed)) await dropDebts(database, user_id, owed);
    copy.left();
  }
}
