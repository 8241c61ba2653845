/** What scopes permit, in plain words. */

/** The order of the list: first what costs money or shows data. */
const SENTENCES: Readonly<Record<string, string>> = {
  write: "run jobs and pay for them with your credits, and see your balance, plan, jobs and ledger",
  read: "see your balance, plan, jobs and ledger",
  openid: "know which account is yours, so that you can sign in with it",
  profile: "see your name",
  email: "see your e-mail address",
  offline_access: "stay connected after you sign out here",
};

/**
 * Each right as the rest of "It wants to …". `upstream` is missing, because the page asks about it separately.
 * `resource`: the server that the tokens are for.
 */
export function rightsInWords(
  scopes: readonly string[],
  resource: { readonly host: string; readonly app_name: string } | null,
): readonly string[] {
  const known = Object.entries(SENTENCES).flatMap(([scope, sentence]) =>
    scopes.includes(scope) && !(scope === "read" && scopes.includes("write")) ? [sentence] : [],
  );
  const of_resource = scopes.filter((scope) => !(scope in SENTENCES) && scope !== "upstream");
  if (resource === null) return known;
  const rights = of_resource.length === 0 ? "" : ` (${of_resource.join(", ")})`;
  return [`use ${resource.app_name} at ${resource.host} as you${rights}`, ...known];
}
