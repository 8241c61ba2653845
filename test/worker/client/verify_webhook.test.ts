import { Webhook } from "standardwebhooks";
import { describe, expect, it, vi } from "vitest";
import { verifyWebhook, type VerifyWebhook } from "../../../src/client/server.ts";

const SECRET = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDAAAAAAAAAAA=";
const OTHER = "whsec_AAAAsBQIhrscChlQIMV+b5sSYspob7oDAAAAAAAAAAA=";
const EVENT = {
  type: "credits.low",
  timestamp: "2026-11-22T09:30:00.000Z",
  data: { identity_id: "user_äöü", line: 17, credits: 18, held: 5, threshold: 20 },
};
const BODY = JSON.stringify(EVENT);
const ID = "8c7e.17.credits.low";

/** The headers that the reference implementation gives a request. */
function signedBy(secret: string, { body = BODY, at = new Date(), id = ID } = {}) {
  return {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": new Webhook(secret).sign(id, at, body),
  };
}

const verify = (request: Partial<VerifyWebhook> = {}) =>
  verifyWebhook({ body: BODY, headers: signedBy(SECRET), secret: SECRET, ...request });

const refused = { code: "signature_invalid", status: 400 };

describe("verifyWebhook", () => {
  it("a request that the reference implementation signed gives its event and its id", async () => {
    const event = await verify();
    expect(event).toEqual({ ...EVENT, id: ID });
    if (event.type === "credits.low") expect(event.data.threshold).toBe(20);
  });

  it("the body may be bytes, and the headers may be those of a Request", async () => {
    const body = new TextEncoder().encode(BODY);
    expect(await verify({ body })).toMatchObject(EVENT);
    expect(await verify({ headers: new Headers(signedBy(SECRET)) })).toMatchObject(EVENT);
  });

  it("one of several secrets and one of several signatures suffice", async () => {
    expect(await verify({ secret: [OTHER, SECRET] })).toMatchObject(EVENT);
    const headers = signedBy(SECRET);
    const both = `v1a,AAAA ${signedBy(OTHER)["webhook-signature"]} ${headers["webhook-signature"]}`;
    expect(await verify({ headers: { ...headers, "webhook-signature": both } })).toMatchObject(
      EVENT,
    );
  });

  it.each([
    ["another secret", { secret: OTHER }],
    ["another body", { body: BODY.replace("18", "19") }],
    ["a body that was parsed and serialised again", { body: JSON.stringify(EVENT, null, 1) }],
    ["another id", { headers: { ...signedBy(SECRET), "webhook-id": "other" } }],
    ["no headers", { headers: {} }],
    ["no id", { headers: { ...signedBy(SECRET), "webhook-id": undefined } }],
    ["a time that is not a number", { headers: { ...signedBy(SECRET), "webhook-timestamp": "x" } }],
    ["a time of NaN", { headers: { ...signedBy(SECRET), "webhook-timestamp": "NaN" } }],
    ["no signature", { headers: { ...signedBy(SECRET), "webhook-signature": "" } }],
    ["another version", { headers: { ...signedBy(SECRET), "webhook-signature": "v2,AAAA" } }],
    [
      "a signature that is not base64",
      { headers: { ...signedBy(SECRET), "webhook-signature": "v1,!" } },
    ],
    ["a part of a signature", { headers: { ...signedBy(SECRET), "webhook-signature": "v1,AAAA" } }],
  ])("a request with %s is refused", async (_, request) => {
    await expect(verify(request)).rejects.toMatchObject(refused);
  });

  it("a time that was changed is refused, because it is signed", async () => {
    const headers = signedBy(SECRET, { at: new Date(Date.now() - 600_000) });
    const now = { ...headers, "webhook-timestamp": String(Math.floor(Date.now() / 1000)) };
    await expect(verify({ headers: now })).rejects.toMatchObject(refused);
  });

  it("a request is accepted for five minutes before and after its time, or for the given tolerance", async () => {
    vi.setSystemTime(Date.parse("2026-11-22T10:00:00Z"));
    const at = (seconds: number) => signedBy(SECRET, { at: new Date(Date.now() + seconds * 1000) });
    for (const seconds of [-300, 300]) {
      expect(await verify({ headers: at(seconds) })).toMatchObject(EVENT);
      await expect(verify({ headers: at(seconds * 1.01) })).rejects.toMatchObject(refused);
    }
    expect(await verify({ headers: at(-900), toleranceSeconds: 900 })).toMatchObject(EVENT);
    await expect(verify({ toleranceSeconds: Number.NaN })).rejects.toMatchObject(refused);
  });

  it.each([
    "null",
    "[]",
    "{",
    '{"type":"ping"}',
    '{"type":1,"data":{}}',
    '{"type":"x","data":null}',
  ])("the signed body %s is refused, because it is not an event", async (body) => {
    const headers = signedBy(SECRET, { body });
    await expect(verify({ body, headers })).rejects.toMatchObject(refused);
  });

  it("a body that a parser of JSON has read is refused as an argument that says so", async () => {
    const body = EVENT as unknown as string;
    await expect(verify({ body })).rejects.toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining("as received"),
    });
  });

  it.each([
    ["without its prefix", SECRET.slice(6)],
    ["that is empty", "whsec_"],
    ["that is not base64", "whsec_!"],
    ["that is missing", undefined as unknown as string],
  ])("a secret %s is refused as an argument, and so is an empty list", async (_, secret) => {
    const wrong = { code: "invalid_argument" };
    await expect(verify({ secret })).rejects.toMatchObject(wrong);
    await expect(verify({ secret: [] })).rejects.toMatchObject(wrong);
  });
});
