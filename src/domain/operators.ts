/** Who operates the service. Pure. */

/** What is known of a person that the setting may name. */
export interface Nameable {
  readonly identity_id: string;
  readonly email: string | null;
  readonly email_verified: boolean;
}

/**
 * Whether the setting `OPERATORS` names a person: by identity id, or by e-mail address where a provider
 * vouches for it. An address that nobody verified names no one.
 */
export function isOperator(operators: readonly string[], person: Nameable): boolean {
  if (operators.includes(person.identity_id)) return true;
  return (
    person.email_verified && person.email !== null && operators.includes(person.email.toLowerCase())
  );
}
