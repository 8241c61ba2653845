/** Where an account's object is created. */
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import worker from "../../../src/worker.ts";
import { BASE_URL, environmentWith, signIn } from "../support/passbook.ts";

/** The hints with which the Worker reaches accounts. */
function watchHints() {
  const hints: (string | undefined)[] = [];
  const ACCOUNT = new Proxy(env.ACCOUNT, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (name !== "getByName") return typeof member === "function" ? member.bind(target) : member;
      return (identity_id: string, options: DurableObjectNamespaceGetDurableObjectOptions = {}) => {
        hints.push(options.locationHint);
        return target.getByName(identity_id, options);
      };
    },
  });
  return { hints, environment: environmentWith({ ACCOUNT }) };
}

/** Cloudflare's fields of a request's sender. */
const placeOf = (fields: object) => fields as IncomingRequestCfProperties;

async function readWallet(
  environment: Env,
  token: string,
  cf: IncomingRequestCfProperties,
): Promise<number> {
  const headers = { Authorization: `Bearer ${token}` };
  const context = createExecutionContext();
  const request = new Request(`${BASE_URL}/api/wallet`, { headers, cf });
  const { status } = await worker.fetch(request, environment, context);
  await waitOnExecutionContext(context);
  return status;
}

describe("the place of an account", () => {
  it("a new account's object is created near the sender of its first request", async () => {
    const ada = await signIn();
    const { hints, environment } = watchHints();
    expect(await readWallet(environment, ada.token, placeOf({ continent: "OC" }))).toBe(200);
    expect(new Set(hints)).toEqual(new Set(["oc"]));
  });

  it("without a place, as in a local service or by Tor, Cloudflare chooses", async () => {
    const ada = await signIn();
    const { hints, environment } = watchHints();
    expect(await readWallet(environment, ada.token, placeOf({ country: "T1" }))).toBe(200);
    expect(new Set(hints)).toEqual(new Set([undefined]));
  });
});
