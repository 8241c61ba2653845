import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { readConfig } from "../../../src/config/config.ts";
import { createBuiltinAdapter } from "../../../src/identity/builtin/adapter.ts";
import { describeIdentityPort } from "./contract.ts";
import {
  createCredential,
  useCredential,
  type CreationOptions,
  type Credential,
  type RequestOptions,
} from "../support/authenticator.ts";
import { connect, openProviderDouble } from "../support/provider_double.ts";

const BASE_URL = "https://passbook.test";

describeIdentityPort("builtin", () => {
  const acme = openProviderDouble("acme");
  const read = readConfig({ ...env, DEV_SIGNIN: "false", BASE_URL, ...connect(acme) });
  if (!read.ok) throw new Error(JSON.stringify(read.refusal));
  const { signin_providers: providers, encryption_keys } = read.value;
  const returned: string[] = [];
  const owed: { identity_id: string; credits: number }[] = [];
  const identity = createBuiltinAdapter({
    database: env.DIRECTORY,
    base_url: BASE_URL,
    dev_signin: false,
    provider_signin: true,
    passkey_signin: false,
    passkey_starters: false,
    providers,
    encryption_keys,
    pseudonyms_of: async (identity) => [JSON.stringify(identity)],
    open_returned: async (identity_id) => void returned.push(identity_id),
    owe_debts: async (identity_id, debts) => {
      for (const { credits } of debts) owed.push({ identity_id, credits });
      return true;
    },
  });
  return {
    identity,
    base_url: BASE_URL,
    returned,
    owed,
    async signIn(person) {
      const start = {
        method_id: "acme",
        base_url: BASE_URL,
        redirect_to: null,
        link_to: null,
        again: false,
      };
      const started = await identity.startSignIn(start);
      if (started.kind !== "redirect") throw new Error(started.kind);
      const back = acme.approve(started.to, { sub: person });
      const request = new Request(back, { headers: { Cookie: cookiePairs(started.set_cookies) } });
      const finished = await identity.finishSignIn(request, "acme", BASE_URL);
      const set_cookies = "set_cookies" in finished ? finished.set_cookies : [];
      return { finished, cookies: cookiePairs(set_cookies) };
    },
  };
});

describeIdentityPort(
  "builtin, with passkeys only",
  () => {
    const read = readConfig({ ...env, DEV_SIGNIN: "false", BASE_URL });
    if (!read.ok) throw new Error(JSON.stringify(read.refusal));
    const identity = createBuiltinAdapter({
      database: env.DIRECTORY,
      base_url: BASE_URL,
      dev_signin: false,
      provider_signin: false,
      passkey_signin: true,
      passkey_starters: false,
      providers: [],
      encryption_keys: read.value.encryption_keys,
      pseudonyms_of: async (name) => [JSON.stringify(name)],
      open_returned: async () => undefined,
      owe_debts: async () => true,
    });
    const { passkeys } = identity;
    if (passkeys === null) throw new Error("passkeys are off");
    const known = new Map<string, Credential>();
    const common = { base_url: BASE_URL, redirect_to: null };
    const names = { service_name: "Passbook", passkey_name: "Key" };
    return {
      identity,
      base_url: BASE_URL,
      returned: [],
      owed: [],
      async signIn(person) {
        const credential = known.get(person);
        const started = await passkeys.start(
          credential === undefined
            ? { kind: "register", ...common, ...names, person_name: person }
            : { kind: "sign_in", ...common },
        );
        if (started.kind !== "started") throw new Error(started.kind);
        const headers = { Cookie: cookiePairs(started.set_cookies) };
        const request = new Request(`${BASE_URL}/signin/passkey`, { headers });
        const options = started.options as CreationOptions & RequestOptions;
        const made =
          credential === undefined ? await createCredential(BASE_URL, options) : undefined;
        if (made !== undefined) known.set(person, made.credential);
        const response =
          made?.response ?? (credential && (await useCredential(BASE_URL, options, credential)));
        const finished = await passkeys.finish(request, response, BASE_URL);
        const cookies = cookiePairs("set_cookies" in finished ? finished.set_cookies : []);
        if (finished.kind !== "registered") return { finished, cookies };
        return { finished: { ...finished, kind: "signed_in" }, cookies };
      },
    };
  },
  "passkey",
);

it("a debt that changes while an account takes it over is owed as it is by the next sign-in", async () => {
  const read = readConfig({ ...env, DEV_SIGNIN: "false", BASE_URL });
  if (!read.ok) throw new Error(JSON.stringify(read.refusal));
  const owed: number[] = [];
  const deleted: string[] = [];
  const identity = createBuiltinAdapter({
    database: env.DIRECTORY,
    base_url: BASE_URL,
    dev_signin: true,
    provider_signin: false,
    passkey_signin: false,
    passkey_starters: false,
    providers: [],
    encryption_keys: read.value.encryption_keys,
    pseudonyms_of: async (name) => [JSON.stringify(name)],
    open_returned: async () => undefined,
    owe_debts: async (_, debts) => {
      for (const { credits } of debts) owed.push(credits);
      // A chargeback of the deleted account, before the directory knows who took its debt over.
      if (owed.length === 1) await identity.changeDebt(deleted[0] ?? "", 80);
      return true;
    },
  });
  const signIn = async (): Promise<string> => {
    const request = new Request(`${BASE_URL}/signin/dev`);
    const signed_in = await identity.signInDevelopment?.("returns@example.com", request, BASE_URL);
    return signed_in?.session.identity_id ?? "";
  };
  deleted.push(await signIn());
  await identity.forgetPerson(deleted[0] ?? "", { credits: 50, debt_ids: [], may_change: true });
  const returned = await signIn();
  expect(owed).toEqual([50]);
  await signIn();
  await signIn();
  expect(owed).toEqual([50, 80]);
  expect(await identity.changeDebt(deleted[0] ?? "", 20)).toMatchObject({ taken_by: returned });
});

function cookiePairs(set_cookies: readonly string[]): string {
  return set_cookies.map((cookie) => cookie.split(";")[0]).join("; ");
}
