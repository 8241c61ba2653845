import { describe, expect, it } from "vitest";
import { createClient, isPassbookError, type Fetch } from "../../../src/client/index.ts";
import { BASE_URL, send, signIn } from "../support/passbook.ts";
import { openStripe, RETURN_URL, SELLING } from "./till.ts";

/** A network that loses this many responses first. */
function losing(answers: number): Fetch {
  let left = answers;
  return async (url, { method, headers, body = null }) => {
    const path = url.replace("http://localhost", BASE_URL);
    const answer = await send(method, path, { headers, body }, SELLING);
    if (left > 0) {
      left -= 1;
      throw new TypeError("fetch failed");
    }
    return { status: answer.status, headers: answer.headers, text: async () => answer.text };
  };
}

describe("the client's checkout", () => {
  it("the client opens one checkout even if responses are lost", async () => {
    const stripe = openStripe();
    const { token } = await signIn();
    const options = { baseUrl: "http://localhost", token, wait: async () => {} };
    const client = createClient({ ...options, fetch: losing(2) });
    const { url } = await client.checkout({ package: "small", returnTo: RETURN_URL });
    expect(stripe.sessions.size).toBe(1);
    expect(url).toBe([...stripe.sessions.values()][0]?.["url"]);
  });

  it("the client passes on the service's error", async () => {
    openStripe();
    const { token } = await signIn();
    const options = { baseUrl: "http://localhost", token, wait: async () => {} };
    const client = createClient({ ...options, fetch: losing(0) });
    const refused = await client
      .checkout({ package: "huge", returnTo: RETURN_URL })
      .catch((error: unknown) => error);
    expect(isPassbookError(refused, "package_unknown")).toBe(true);
  });
});
