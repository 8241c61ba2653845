/** Token exchanges for tests. */
import { CLIENT_ID, post, type Form, type Tokens } from "./oauth_clients.ts";
import type { Answer } from "./passbook.ts";

export const TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
export const ACCESS_TOKEN_TYPE = "urn:ietf:params:oauth:token-type:access_token";

export const REFRESH_TOKEN_TYPE = "urn:ietf:params:oauth:token-type:refresh_token";

export type Limits = Readonly<Record<string, unknown>>;

/** Exchanges a token for one within these limits. `changed`: other fields of the form; an empty one is not sent. */
export function exchange(
  subject_token: string,
  limits: Limits | null = null,
  changed: Form = {},
  headers: Record<string, string> = {},
): Promise<Answer> {
  const details = [{ type: "passbook_spending", ...limits }];
  const form = {
    grant_type: TOKEN_EXCHANGE,
    subject_token,
    subject_token_type: subject_token.startsWith("pb_rt_") ? REFRESH_TOKEN_TYPE : ACCESS_TOKEN_TYPE,
    client_id: CLIENT_ID,
    ...(limits === null ? {} : { authorization_details: JSON.stringify(details) }),
    ...changed,
  };
  return post("/oauth/token", form, headers);
}

/** The tokens of a narrower connection. */
export async function narrow(
  subject_token: string,
  limits: Limits,
  changed: Form = {},
): Promise<Tokens> {
  const answer = await exchange(subject_token, limits, changed);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body as Tokens;
}

export const total = (credits: number): Limits => ({ caps: [{ credits, period: "total" }] });
