import { describe, expect, it } from "vitest";
import {
  CODE_DOUBLE_SUBMIT_MS,
  CODE_TTL_MS,
  isSameResource,
  judgeCode,
  judgeRefresh,
  REFRESH_REPEAT_MS,
  type IssuedCode,
  type PresentedCode,
} from "../../../src/domain/token_family.ts";

const NOW_MS = 1_800_000_000_000;

describe("a refresh token", () => {
  const family = { generation: 5, rotated_at_ms: NOW_MS, is_used: false };
  it.each([
    ["the current one rotates, however old it is", 5, 30 * 86_400_000, "rotate"],
    ["the previous one gets the same tokens within a day", 4, REFRESH_REPEAT_MS - 1, "repeat"],
    ["the previous one ends the family after a day", 4, REFRESH_REPEAT_MS, "end"],
    ["an older one ends the family at once", 3, 0, "end"],
    ["one that was never issued ends nothing", 6, 0, "refuse"],
  ])("of the refresh tokens of a family, %s", (_, presented, age_ms, verdict) => {
    expect(judgeRefresh(family, presented, NOW_MS + age_ms)).toBe(verdict);
  });

  it("the refresh token before a used one ends the family at once", () => {
    const used = { ...family, is_used: true };
    expect(judgeRefresh(used, 4, NOW_MS)).toBe("end");
    expect(judgeRefresh(used, 5, NOW_MS)).toBe("rotate");
  });
});

describe("an authorization code", () => {
  const code: IssuedCode = {
    client_id: "https://client.example/id",
    redirect_uri: "https://client.example/callback",
    resource: "https://mcp.example.com/mcp",
    code_challenge: "challenge",
    created_at_ms: NOW_MS,
    used_at_ms: null,
  };
  const { client_id, redirect_uri, resource, code_challenge } = code;
  const sent: PresentedCode = { client_id, redirect_uri, resource, code_challenge };
  const refused = (problem: string, ends_family = false) => ({
    kind: "refuse",
    problem,
    ends_family,
  });

  it("a code is redeemed within a minute, and the redirect address may be left out with PKCE", () => {
    expect(judgeCode(code, sent, NOW_MS + CODE_TTL_MS - 1)).toEqual({ kind: "redeem" });
    const short = { ...sent, redirect_uri: null, resource: undefined };
    expect(judgeCode(code, short, NOW_MS)).toEqual({ kind: "redeem" });
  });

  it.each<[string, Partial<IssuedCode>, Partial<PresentedCode>, string]>([
    ["another client", {}, { client_id: "other" }, "other_client"],
    ["another redirect address", {}, { redirect_uri: "https://x.example" }, "other_redirect_uri"],
    ["another resource", {}, { resource: null }, "other_resource"],
    ["another verifier", {}, { code_challenge: "other" }, "verifier_wrong"],
    ["no verifier", {}, { code_challenge: null }, "verifier_missing"],
    ["a verifier without a challenge", { code_challenge: null }, {}, "verifier_unexpected"],
    [
      "no redirect address and no challenge",
      { code_challenge: null },
      { code_challenge: null, redirect_uri: null },
      "other_redirect_uri",
    ],
  ])(
    "a code is refused with %s, and nothing ends, even after it was used",
    (_, was, is, problem) => {
      for (const used_at_ms of [null, NOW_MS]) {
        const verdict = judgeCode(
          { ...code, ...was, used_at_ms },
          { ...sent, ...is },
          NOW_MS + 30_000,
        );
        expect(verdict).toEqual(refused(problem));
      }
    },
  );

  it("our API is only the same as itself, and an origin is the same with a slash", () => {
    expect(isSameResource(null, null)).toBe(true);
    expect(isSameResource(null, "https://mcp.example")).toBe(false);
    expect(isSameResource("https://mcp.example", null)).toBe(false);
    expect(isSameResource("https://mcp.example", "https://mcp.example/")).toBe(true);
    expect(isSameResource("https://mcp.example", "https://mcp.example/a")).toBe(false);
  });

  it("a code that is a minute old is refused", () => {
    expect(judgeCode(code, sent, NOW_MS + CODE_TTL_MS)).toEqual(refused("code_expired"));
  });

  it("a second use ends the family only after a double submit is impossible", () => {
    const used = { ...code, used_at_ms: NOW_MS };
    const at = (ms: number) => judgeCode(used, sent, NOW_MS + ms);
    expect(at(CODE_DOUBLE_SUBMIT_MS - 1)).toEqual(refused("code_used"));
    expect(at(CODE_DOUBLE_SUBMIT_MS)).toEqual(refused("code_used", true));
  });
});
