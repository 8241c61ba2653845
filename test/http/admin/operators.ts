/** An operator for tests: somebody signed in whom the settings name. */
import { approve, holderOf, poll, startLogin, type TokenHolder } from "../../device/logins.ts";
import { send, signIn, type Answer, type SignedIn } from "../passbook.ts";

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

/** Settings that name her, the same object each time: one isolate. */
export const SETTINGS = { OPERATORS: OPERATOR };

/** Signs the operator in. */
export async function signInOperator(): Promise<Operator> {
  const person = await signIn(OPERATOR);
  return operatorWith(person, person.token, SETTINGS);
}

/** Calls of an operator with a bearer token. */
export function operatorWith(person: SignedIn, token: string, settings: object): Operator {
  const authorization = { Authorization: `Bearer ${token}` };
  return {
    person,
    settings,
    get: (path) => send("GET", path, { headers: authorization }, settings),
    send: (method, path, body, headers = {}) =>
      send(
        method,
        path,
        {
          headers: { ...authorization, "Content-Type": "application/json", ...headers },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        },
        settings,
      ),
  };
}

/** A personal access token that the person approved under these settings; null where that was refused. */
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
