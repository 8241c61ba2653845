/** The conformance modules over HTTP, with the real clock. `worker/oauth/conformance` runs them in milliseconds. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DISCOVERY, MODULES } from "../../worker/oauth/conformance/modules.ts";
import { openPassbookTarget } from "../../worker/oauth/conformance/passbook_target.ts";
import type { Target } from "../../worker/oauth/conformance/target.ts";
import { startOAuthService, type OAuthService } from "./service.ts";

let service: OAuthService;
let target: Target;

beforeAll(async () => {
  service = await startOAuthService("conformance");
  target = await openPassbookTarget(service, service);
});

afterAll(() => service?.stop());

describe("the conformance modules over HTTP", { tags: "slow" }, () => {
  it.concurrent.for(Object.entries(MODULES))(
    "the running service does not fail the module %s",
    async ([, run]) => {
      await expect(run(target)).resolves.toBeDefined();
    },
  );

  it("the running service passes the verification of its discovery document", async () => {
    expect(await DISCOVERY(target)).toEqual({ result: "passed" });
  });
});
