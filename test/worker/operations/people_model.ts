/** A model of people, their identities and their debts. Tests compare it with the service. */

export interface ModelAccount {
  readonly identities: Set<number>;
  readonly takes_starter: boolean;
  has_starter: boolean;
  credits: number;
}

interface Debt {
  /** Any identity of the person who owes it. */
  readonly identity: number;
  readonly credits: number;
}

export class People {
  readonly #accounts = new Set<ModelAccount>();
  /** Identities that were ever part of an account. */
  readonly #seen = new Set<number>();
  /** The person of each identity. Identities that were ever linked together belong to one person. */
  readonly #person = new Map<number, number>();
  #debts: Debt[] = [];
  starters = 0;

  signIn(identity: number): ModelAccount {
    let account = this.#accountOf(identity);
    if (account === undefined) {
      const takes_starter = !this.#seen.has(identity);
      account = { identities: new Set([identity]), takes_starter, has_starter: false, credits: 0 };
      this.#accounts.add(account);
    }
    this.#note(account);
    this.#bringDebts(account, identity);
    return account;
  }

  takeStarter(account: ModelAccount, credits: number): void {
    if (!account.takes_starter || account.has_starter) return;
    account.has_starter = true;
    account.credits += credits;
    this.starters += 1;
  }

  /** Refuses the link if the identity has an account, or the account has an identity of its provider. */
  link(account: ModelAccount, identity: number): void {
    const has_provider = [...account.identities].some((it) => it % 2 === identity % 2);
    if (has_provider || this.#accountOf(identity) !== undefined) return;
    const [one = identity] = account.identities;
    this.#join(one, identity);
    account.identities.add(identity);
    this.#note(account);
    this.#bringDebts(account, identity);
  }

  /** Unlinks the identity of a provider, but never the last one. */
  unlink(account: ModelAccount, provider: number): void {
    const identity = [...account.identities].find((it) => it % 2 === provider % 2);
    if (identity !== undefined && account.identities.size > 1) account.identities.delete(identity);
  }

  delete(account: ModelAccount): void {
    const [identity = 0] = account.identities;
    if (account.credits < 0) this.#debts.push({ identity, credits: 0 - account.credits });
    this.#accounts.delete(account);
  }

  #accountOf(identity: number): ModelAccount | undefined {
    return [...this.#accounts].find(({ identities }) => identities.has(identity));
  }

  #note({ identities }: ModelAccount): void {
    for (const identity of identities) this.#seen.add(identity);
  }

  #bringDebts(account: ModelAccount, identity: number): void {
    const theirs = (debt: Debt) => this.#find(debt.identity) === this.#find(identity);
    for (const debt of this.#debts.filter(theirs)) account.credits -= debt.credits;
    this.#debts = this.#debts.filter((debt) => !theirs(debt));
  }

  #find(identity: number): number {
    const next = this.#person.get(identity);
    return next === undefined ? identity : this.#find(next);
  }

  #join(one: number, other: number): void {
    const [from, to] = [this.#find(one), this.#find(other)];
    if (from !== to) this.#person.set(from, to);
  }
}
