import { describe, expect, it } from "vitest";
import { readClientCredentials } from "../../../src/domain/client_credentials.ts";
import { TOKEN_MAX_LENGTH } from "../../../src/domain/limits.ts";
import { CLIENT_ID_MAX_LENGTH } from "../../../src/domain/oauth_client.ts";

type Sent = Parameters<typeof readClientCredentials>[0];

const NOTHING: Sent = {
  authorization: null,
  client_id: null,
  client_secret: null,
  client_assertion: null,
  client_assertion_type: null,
};
const read = (sent: Partial<Sent>) => readClientCredentials({ ...NOTHING, ...sent });
const basic = (text: string): string => `Basic ${btoa(text)}`;
const TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const jwt = (claims: string): string =>
  `e30.${btoa(claims).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}.sig`;
const known = (client_id: string, proof: object) => ({ ok: true, value: { client_id, proof } });
const refused = (refusal: string) => ({ ok: false, refusal });
const secret = (text: string) => ({ kind: "secret", secret: text });

describe("how a client authenticates", () => {
  it("a client sends its id only, or its secret in the body or the header", () => {
    expect(read({ client_id: "a" })).toEqual(known("a", { kind: "none" }));
    expect(read({ client_id: "a", client_secret: "s" })).toEqual(known("a", secret("s")));
    expect(read({ authorization: basic("a:s") })).toEqual(known("a", secret("s")));
    expect(
      read({
        authorization: basic("a:s")
          .toLowerCase()
          .replace(/ .*/, ` ${btoa("a:s")}`),
      }),
    ).toEqual(known("a", secret("s")));
  });

  it("an empty parameter counts as not sent, and without an id the client is missing", () => {
    expect(read({ client_id: "a", client_secret: "", authorization: "" })).toEqual(
      known("a", { kind: "none" }),
    );
    for (const sent of [{}, { client_id: "" }, { client_secret: "s" }])
      expect(read(sent)).toEqual(refused("missing"));
  });

  it("the id and the secret in the header are form-encoded, and the secret may have colons", () => {
    expect(read({ authorization: basic("a%3Ab+c:s:t%25") })).toEqual(
      known("a:b c", secret("s:t%")),
    );
  });

  it.each([
    "Bearer abc",
    "Basic",
    "Basic *",
    `Basic ${btoa("no colon")}`,
    `Basic ${btoa("a%:s")}`,
    "Basic a",
    `Basic ${btoa(":s")}`,
  ])("the header %j is malformed", (authorization) => {
    expect(read({ authorization })).toEqual(refused("malformed"));
  });

  it("an id in the body must be that of the header", () => {
    expect(read({ authorization: basic("a:s"), client_id: "a" }).ok).toBe(true);
    expect(read({ authorization: basic("a:s"), client_id: "b" })).toEqual(refused("malformed"));
  });

  it("an assertion names its client", () => {
    // The characters of base64url that base64 does not have are in it.
    const claims = '{"sub":"a","x":"~~~>>>???"}';
    const client_assertion = jwt(claims);
    expect(client_assertion).toMatch(/-.*_|_.*-/);
    const sent = { client_assertion, client_assertion_type: TYPE };
    const proof = { kind: "assertion", assertion: client_assertion };
    expect(read(sent)).toEqual(known("a", proof));
    expect(read({ ...sent, client_id: "a" })).toEqual(known("a", proof));
    expect(read({ ...sent, client_id: "b" })).toEqual(refused("malformed"));
    expect(read({ ...sent, client_assertion_type: "other" })).toEqual(refused("malformed"));
  });

  it.each([
    "x",
    "e30.x",
    `${jwt('{"sub":"a"}')}.x`,
    "e30.!.s",
    jwt("{"),
    jwt('{"sub":5}'),
    jwt("null"),
  ])("the assertion %s is malformed", (client_assertion) => {
    expect(read({ client_assertion, client_assertion_type: TYPE, client_id: "a" })).toEqual(
      refused("malformed"),
    );
  });

  it("an assertion without a text as its subject is malformed, also if the body has no id", () => {
    for (const claims of ['{"sub":["a"]}', '{"sub":5}', "{}", "null"])
      expect(read({ client_assertion: jwt(claims), client_assertion_type: TYPE })).toEqual(
        refused("malformed"),
      );
  });

  it("an assertion without its type, and a type without an assertion, are malformed", () => {
    const client_assertion = jwt('{"sub":"a"}');
    expect(read({ client_id: "a", client_assertion })).toEqual(refused("malformed"));
    expect(read({ client_id: "a", client_assertion_type: TYPE })).toEqual(refused("malformed"));
  });

  it("a client authenticates in one way only", () => {
    const authorization = basic("a:s");
    const assertion = { client_assertion: jwt('{"sub":"a"}'), client_assertion_type: TYPE };
    for (const two of [
      { authorization, client_secret: "s" },
      { authorization, ...assertion },
      { client_secret: "s", ...assertion },
    ])
      expect(read(two)).toEqual(refused("two_methods"));
  });

  it("ids, secrets and assertions have a longest length", () => {
    const id = "a".repeat(CLIENT_ID_MAX_LENGTH);
    expect(read({ client_id: id }).ok).toBe(true);
    expect(read({ client_id: `${id}a` })).toEqual(refused("malformed"));
    const text = "s".repeat(TOKEN_MAX_LENGTH);
    expect(read({ client_id: "a", client_secret: text }).ok).toBe(true);
    expect(read({ client_id: "a", client_secret: `${text}s` })).toEqual(refused("malformed"));
    const start = jwt('{"sub":"a"}');
    const assertion = start.padEnd(TOKEN_MAX_LENGTH, "x");
    const sent = { client_assertion: assertion, client_assertion_type: TYPE };
    expect(read(sent).ok).toBe(true);
    expect(read({ ...sent, client_assertion: `${assertion}x` })).toEqual(refused("malformed"));
  });
});
