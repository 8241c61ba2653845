/** Requests the profile of a social network's bearer token. */
import { accepted, refused, type Result } from "../domain/result.ts";
import { requestUpstream, UpstreamFailure, type UpstreamResponse } from "./ask.ts";

/** A response that cannot be passed on: its status; null if there was none. */
interface NoProfile {
  readonly upstream_status: number | null;
}

/**
 * Requests a bearer's profile: the JSON text as received, because parsing would round long numbers, which some
 * networks use as ids.
 */
export type RequestProfile = (bearer: string) => Promise<Result<string, NoProfile>>;

/** Requests the current-user endpoint at `url`, with only the bearer token. */
export function createSocialNetwork(url: string): RequestProfile {
  return async (bearer) => {
    const answer = await ask(url, bearer);
    if (answer instanceof UpstreamFailure || !isSuccess(answer) || !isJson(answer.text)) {
      return refused({ upstream_status: answer.status });
    }
    return accepted(answer.text);
  };
}

async function ask(url: string, bearer: string): Promise<UpstreamResponse | UpstreamFailure> {
  const headers = { Authorization: `Bearer ${bearer}`, Accept: "application/json" };
  try {
    return await requestUpstream(url, { headers });
  } catch (error) {
    if (error instanceof UpstreamFailure) return error;
    throw error;
  }
}

function isSuccess({ status }: UpstreamResponse): boolean {
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
