/** Signs in a person whom the settings name as an operator. */
import {
  approve,
  fromOwnPage,
  holderOf,
  poll,
  startLogin,
  type TokenHolder,
} from "../../../support/device_logins.ts";
import { send, signIn, type Answer, type SignedIn } from "../../../support/passbook.ts";

export interface Operator {
  readonly person: SignedIn;
  readonly settings: object;
  get(path: string): Promise<Answer>;
  send(
    method: string,
    path: string,
    body?: object,
    headers?: Record<string, string>,
  ): Promise<Answer>;
}

const OPERATOR = "olga@example.com";

/** Settings that name the operator. Requests with the same object share an isolate. */
export const SETTINGS = { OPERATORS: OPERATOR };

/** Signs in the operator. Calls use the session cookie, from our own pages. */
export async function signInOperator(): Promise<Operator> {
  const person = await signIn(OPERATOR, SETTINGS);
  return operatorOnPages(person, SETTINGS);
}

/** Calls of an operator by the session cookie, from our own pages. */
export function operatorOnPages(person: SignedIn, settings: object): Operator {
  return operatorBy(person, fromOwnPage(person), settings);
}

/** Calls of an operator with a bearer token. */
export function operatorWith(person: SignedIn, token: string, settings: object): Operator {
  return operatorBy(person, { Authorization: `Bearer ${token}` }, settings);
}

function operatorBy(
  person: SignedIn,
  credentials: Record<string, string>,
  settings: object,
): Operator {
  return {
    person,
    settings,
    get: (path) => send("GET", path, { headers: credentials }, settings),
    send: (method, path, body, headers = {}) =>
      send(
        method,
        path,
        {
          headers: { ...credentials, "Content-Type": "application/json", ...headers },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        },
        settings,
      ),
  };
}

/** A personal access token that the person approved under these settings; null if the approval was refused. */
export async function personalToken(
  person: SignedIn,
  limits: object,
  settings: Readonly<Record<string, unknown>> = SETTINGS,
): Promise<TokenHolder | null> {
  const { device_code, user_code } = await startLogin();
  const approved = await approve(person, user_code, limits, settings);
  if (approved.status !== 200) return null;
  return holderOf((await poll(device_code)).body.token, settings);
}
