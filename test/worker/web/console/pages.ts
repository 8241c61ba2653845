/** Opens pages of the console, fills in their forms and sends them, as an operator's browser does. */
import { fireAlarm } from "../../support/account_object.ts";
import {
  BASE_URL,
  send,
  signInWithCredits,
  type Answer,
  type SignedIn,
} from "../../support/passbook.ts";
import { signInOperator, SETTINGS, type Operator } from "../../http/api/admin/operators.ts";

type Fields = Readonly<Record<string, string>>;

export interface ConsoleBrowser {
  readonly olga: Operator;
  readonly open: (path: string, settings?: object) => Promise<Answer>;
  /** Sends a form from the console's own page without filling it in. */
  readonly submit: (path: string, form: Fields, settings?: object) => Promise<Answer>;
  /** Opens a form's page, fills it in and sends it to its action. */
  readonly fill: (
    path: string,
    values: Fields,
    settings?: object,
  ) => Promise<Answer & { readonly sent: Fields }>;
}

/** Signs an operator in and opens their browser. */
export async function openConsole(): Promise<ConsoleBrowser> {
  const olga = await signInOperator();
  const headers = { Cookie: olga.person.cookies, Accept: "text/html" };
  const open = (path: string, settings: object = SETTINGS) =>
    send("GET", path, { headers }, settings);
  const submit = (path: string, form: Fields, settings: object = SETTINGS) => {
    const body = new URLSearchParams(form);
    return send("POST", path, { headers: { ...headers, Origin: BASE_URL }, body }, settings);
  };
  return {
    olga,
    open,
    submit,
    async fill(path, values, settings) {
      const page = await open(path, settings);
      const sent = { ...hiddenFields(page.text), ...values };
      const { pathname } = new URL(path, BASE_URL);
      return { ...(await submit(pathname, sent, settings)), sent };
    },
  };
}

/** The hidden fields of a page's last form. */
export function hiddenFields(html: string): Record<string, string> {
  const form = html.slice(html.lastIndexOf("<form"));
  return Object.fromEntries(
    [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(
      ([, name = "", value = ""]) => [name, value],
    ),
  );
}

/** The text of a page, without its markup. */
export const words = (html: string): string =>
  html
    .slice(html.indexOf("<body"))
    .replaceAll("<wbr/>", "")
    .replace(/<[^>]+>/g, " ")
    .replace(/\s+/g, " ");

/** The path of an account's page. */
export const pageOf = ({ identity_id }: SignedIn, act = ""): string =>
  `/console/accounts/${identity_id}${act}`;

/** An operator's browser, and Ada, whose 100 credits are in the read model. */
export async function consoleAndAda() {
  const browser = await openConsole();
  const ada = await signInWithCredits();
  await fireAlarm(ada.identity_id);
  return { ...browser, ada };
}

/** The audit records of a subject, oldest first. */
export async function linesOf(olga: Operator, subject: string) {
  const { body } = await olga.get(`/api/admin/audit?subject=${subject}`);
  return body.entries.toReversed();
}
