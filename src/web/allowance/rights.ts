/** The rights of scopes, in plain words. */
import { CHARGE_SCOPE } from "../../domain/oauth_scopes.ts";
import { t, type PlainText } from "../language/text.tsx";

/** The order of the list: first what costs money or shows data. */
const SENTENCES: Readonly<Record<string, PlainText>> = {
  write: "run jobs and pay for them with your credits, and see your balance, plan, jobs and ledger",
  read: "see your balance, plan, jobs and ledger",
  openid: "know which account is yours, so that you can sign in with it",
  profile: "see your name",
  email: "see your e-mail address",
  offline_access: "stay connected after you sign out here",
};

const OTHERS: readonly string[] = ["upstream", CHARGE_SCOPE];

/**
 * Each right as the rest of "It wants to …". `upstream` is missing, because the page asks about it separately.
 * `resource`: the server that the tokens are for.
 */
export function rightsInWords(
  scopes: readonly string[],
  resource: { readonly host: string; readonly app_name: string } | null,
): readonly string[] {
  const known = Object.entries(SENTENCES).flatMap(([scope, sentence]) =>
    scopes.includes(scope) && !(scope === "read" && scopes.includes("write")) ? [t(sentence)] : [],
  );
  if (resource === null) return known;
  const { app_name, host } = resource;
  const of_resource = scopes.filter((scope) => !(scope in SENTENCES) && !OTHERS.includes(scope));
  const use =
    of_resource.length === 0
      ? t("use {app} at {host} as you", { app: app_name, host })
      : t("use {app} at {host} as you ({rights})", {
          app: app_name,
          host,
          rights: of_resource.join(", "),
        });
  const pay = "pay {app} with your credits for what it does: {app} decides what each use costs";
  const charges = scopes.includes(CHARGE_SCOPE) ? [t(pay, { app: app_name })] : [];
  return [use, ...charges, ...known];
}
