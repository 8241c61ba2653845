/** The terms of starter credits, and which people an app gives none, by the domain of their e-mail address. Pure. */

/** An app's terms for its starter credits. */
export interface StarterTerms {
  /** Null: they never expire. */
  readonly expires_after_days: number | null;
  /** Whether only this app may use them. */
  readonly only_here: boolean;
}

/** The most excluded domains of one app. Every isolate keeps them in memory. */
export const STARTER_EXCLUDED_DOMAINS_MAX = 500;

/** A domain in ASCII and lower case, such as `mailinator.com`. */
export const MAIL_DOMAIN_PATTERN =
  /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;

/**
 * Whether a person gets no starter credits of an app that excludes these domains and their subdomains. A person
 * without a verified address gets none either, because otherwise nobody with an excluded address would verify it.
 */
export function isExcluded(
  person: { readonly email: string | null; readonly email_verified: boolean } | null,
  domains: readonly string[],
): boolean {
  if (domains.length === 0) return false;
  const { email = null, email_verified = false } = person ?? {};
  if (email === null || !email_verified) return true;
  const domain = asciiDomain(email.slice(email.lastIndexOf("@") + 1));
  return domains.some((excluded) => domain === excluded || domain.endsWith(`.${excluded}`));
}

/** A domain in the form of {@link MAIL_DOMAIN_PATTERN}. A name with a last dot, or in Unicode, is the same name. */
function asciiDomain(domain: string): string {
  const host = URL.parse(`https://${domain}`)?.hostname ?? domain.toLowerCase();
  return host.replace(/\.$/, "");
}
