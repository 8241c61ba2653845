import { expect, it } from "vitest";
import type { Flow } from "../../../src/identity/builtin/flow_cookie.ts";
import { createSignIns, type SignInParts } from "../../../src/identity/builtin/sign_ins.ts";
import { signInProviders } from "../../../src/oauth/providers.ts";
import { openProviderDouble } from "../support/provider_double.ts";

const ACME = openProviderDouble("acme").settings;
const GOOGLE = { preset: "google", client_id: "our-id", client_secret: "our-secret" };

it.each([
  ["a provider that gets prompt=login", ACME, true, expect.any(Number)],
  ["a provider that gets only select_account", GOOGLE, true, null],
  ["a sign-in that no client requires", ACME, false, null],
])("the flow of %s has the right time for auth_time", async (_name, entry, again, at) => {
  const providers = signInProviders.parse([entry]);
  const sealed: Flow[] = [];
  const seal = async (_base_url: string, flow: Flow) => {
    sealed.push(flow);
    return "";
  };
  const sign_ins = createSignIns({ providers, flows: { seal } } as unknown as SignInParts);
  const method_id = providers[0]?.id ?? "";
  const base_url = "https://id.family.test";
  await sign_ins.start({ method_id, base_url, redirect_to: null, link_to: null, again });
  expect(sealed).toMatchObject([{ again_at_ms: at }]);
});
