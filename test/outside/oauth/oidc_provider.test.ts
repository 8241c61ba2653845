import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../../src/commands/local_worker.ts";
import { DISCOVERY, MODULES } from "../../worker/oauth/conformance/modules.ts";
import { startOidcProvider, type OidcProvider } from "./oidc_provider.ts";

let provider: OidcProvider;

beforeAll(async () => {
  provider = await startOidcProvider(await freePort());
});

afterAll(() => provider?.stop());

/** The suite runs these only for servers that list the algorithm `none`. */
const SKIPPED = [
  "idtoken-unsigned",
  "request-uri-unsigned-supported-correctly-or-rejected-as-unsupported",
  "unsigned-request-object-supported-correctly-or-rejected-as-unsupported",
  "ensure-request-object-with-redirect-uri",
];

describe("the conformance modules, on a certified server", { tags: "slow" }, () => {
  it.concurrent.for(Object.entries(MODULES))(
    "oidc-provider passes the module %s",
    async ([name, run]) => {
      const { result } = await run(provider);
      expect(result).toBe(SKIPPED.includes(name) ? "skipped" : "passed");
    },
  );

  it("oidc-provider passes the verification of its discovery document", async () => {
    expect(await DISCOVERY(provider)).toEqual({ result: "passed" });
  });

  it("the plan has 38 modules", () => {
    expect(Object.keys(MODULES)).toHaveLength(38);
  });
});
