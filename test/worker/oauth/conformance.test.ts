import { exports } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { passTime } from "../support/clock.ts";
import { BASE_URL } from "../support/passbook.ts";
import { DISCOVERY, MODULES, type Outcome } from "./conformance/modules.ts";
import {
  openPassbookTarget,
  operateService,
  type ServiceUnderTest,
} from "./conformance/passbook_target.ts";
import type { Target } from "./conformance/target.ts";

let target: Target;

beforeEach(async () => {
  const service: ServiceUnderTest = {
    issuer: BASE_URL,
    fetch: (url, init) => exports.default.fetch(new Request(url, init)),
    wait: async (seconds) => passTime(seconds * 1000),
  };
  target = await openPassbookTarget(service, await operateService(service));
});

const NO_REQUEST_OBJECTS = "the server lists no unsigned request objects";

/** The modules whose result is not "passed", with the reason. */
const OTHERWISE: Readonly<Record<string, Outcome>> = {
  "idtoken-unsigned": { result: "skipped", why: "the server lists no unsigned ID tokens" },
  "request-uri-unsigned-supported-correctly-or-rejected-as-unsupported": {
    result: "skipped",
    why: NO_REQUEST_OBJECTS,
  },
  "unsigned-request-object-supported-correctly-or-rejected-as-unsupported": {
    result: "skipped",
    why: NO_REQUEST_OBJECTS,
  },
  "ensure-request-object-with-redirect-uri": { result: "skipped", why: NO_REQUEST_OBJECTS },
  // Sign-in without a provider knows the address only. A missing claim is a warning.
  "scope-profile": { result: "warned", why: expect.stringMatching(/^no claim name, /) },
  "claims-essential": { result: "warned", why: "no claim name" },
  "scope-address": { result: "skipped", why: "scopes_supported lacks address" },
  "scope-phone": { result: "skipped", why: "scopes_supported lacks phone" },
  "scope-all": { result: "skipped", why: "scopes_supported lacks address, phone" },
};

describe("the conformance modules of OpenID Connect", () => {
  it.for(Object.entries(MODULES))("the service passes the module %s", async ([name, run]) => {
    expect(await run(target)).toEqual(OTHERWISE[name] ?? { result: "passed" });
  });

  it("the service passes the verification of its discovery document", async () => {
    expect(await DISCOVERY(target)).toEqual({ result: "passed" });
  });
});
