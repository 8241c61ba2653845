/** Asking a social network who the bearer of its token is. */
import { accepted, refused, type Result } from "../domain/result.ts";
import { askUpstream, UpstreamFailure, type UpstreamAnswer } from "./ask.ts";

/** Why the network's answer cannot be passed on; its status, null where there was no answer. */
export interface NoProfile {
  readonly upstream_status: number | null;
}

/** A bearer's profile: JSON text as it came, since parsing rounds the long numbers some use as ids. */
export type AskSocialNetwork = (bearer: string) => Promise<Result<string, NoProfile>>;

/** Asks the current-user endpoint at `url`. Nothing but the bearer goes there. */
export function createSocialNetwork(url: string): AskSocialNetwork {
  return async (bearer) => {
    const answer = await ask(url, bearer);
    if (answer instanceof UpstreamFailure || !isSuccess(answer) || !isJson(answer.text)) {
      return refused({ upstream_status: answer.status });
    }
    return accepted(answer.text);
  };
}

async function ask(url: string, bearer: string): Promise<UpstreamAnswer | UpstreamFailure> {
  const headers = { Authorization: `Bearer ${bearer}`, Accept: "application/json" };
  try {
    return await askUpstream(url, { headers });
  } catch (error) {
    if (error instanceof UpstreamFailure) return error;
    throw error;
  }
}

function isSuccess({ status }: UpstreamAnswer): boolean {
  return status >= 200 && status <= 299;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
