/** A browser with an authenticator, on the pages for passkeys. */
import { approvalForm, holderOf, poll, startLogin, type TokenHolder } from "./device_logins.ts";
import type { Answer } from "./passbook.ts";
import { signInOperator } from "../http/api/admin/operators.ts";
import { BACK, type Browser } from "./browser.ts";
import {
  createCredential,
  useCredential,
  type Alterations,
  type Credential,
} from "./authenticator.ts";

export const HERE = "http://passbook.localhost";

/** The settings of a service that people use only with passkeys. */
export const ONLY_PASSKEYS = { SIGNIN_METHODS: "passkey" };

const queryOf = (redirect_to: string | null): string =>
  redirect_to === null ? "" : `?${new URLSearchParams({ redirect_to }).toString()}`;

const finish = (browser: Browser, response: object): Promise<Answer> =>
  browser.post("/signin/passkey", { response: JSON.stringify(response) });

/** Creates an account: the credential, the response that was sent, and the page with the recovery code. */
export async function register(
  browser: Browser,
  { redirect_to = null, altered = {} }: { redirect_to?: string | null; altered?: Alterations } = {},
) {
  const form = { name: "Ada" };
  const started = await browser.post(`/signin/passkey/register${queryOf(redirect_to)}`, form);
  const { credential, response } = await createCredential(HERE, started.body, -7, altered);
  const answer = await finish(browser, response);
  const [, recovery_code = ""] = /<textarea[^>]*>([^<]+)</.exec(answer.text) ?? [];
  return { credential, response, answer, recovery_code };
}

/** Signs in with a credential. */
export async function signInWith(
  browser: Browser,
  credential: Credential,
  { redirect_to = BACK, altered = {} }: { redirect_to?: string | null; altered?: Alterations } = {},
) {
  const started = await browser.post(`/signin/passkey/start${queryOf(redirect_to)}`);
  const response = await useCredential(HERE, started.body, credential, altered);
  return { response, answer: await finish(browser, response) };
}

/** Adds a passkey to the account of a signed-in browser. */
export async function addPasskey(browser: Browser, passkey_name = "Blue key") {
  const started = await browser.post("/account/passkey", { passkey_name });
  const { credential, response } = await createCredential(HERE, started.body);
  return { credential, response, answer: await finish(browser, response) };
}

/** The sign-in methods that `/account` can remove, by name. */
export async function removableMethods(browser: Browser): Promise<ReadonlyMap<string, string>> {
  const { text } = await browser.get("/account/security");
  const forms = text.matchAll(
    /action="\/account\/unlink"><input type="hidden" name="provider" value="([^"]+)"\/><button[^>]*>\w+<span class="unseen"> ([^<]+)</g,
  );
  return new Map([...forms].map(([, id = "", name = ""]) => [name, id]));
}

/** Suspends a person, as an operator does. */
export async function suspend(identity_id: string): Promise<void> {
  const operator = await signInOperator();
  const path = `/api/admin/accounts/${identity_id}/suspend`;
  const { status } = await operator.send("POST", path, { reason: "fraud" });
  if (status !== 200) throw new Error(`the suspension got ${status}`);
}

/** Approves a device in a browser: the token that the device gets. */
export async function approveOn(browser: Browser): Promise<TokenHolder> {
  const { device_code, user_code } = await startLogin({}, ONLY_PASSKEYS);
  await browser.post("/device/approve", approvalForm(user_code));
  return holderOf((await poll(device_code)).body.token);
}
