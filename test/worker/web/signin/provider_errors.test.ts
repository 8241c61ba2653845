import { describe, expect, it, vi } from "vitest";
import { connect, openProviderDouble } from "../../support/provider_double.ts";
import { expectNobody, openBrowser } from "../../support/browser.ts";

const ADA = { sub: "ada", name: "Ada" };

describe("an error that a token endpoint answers with status 200, as GitHub does", () => {
  it("is read as the error it is: the log has the provider's own word", async () => {
    const log = vi.spyOn(console, "warn").mockReturnValue();
    const github = openProviderDouble("github-like", { scope: "read:user" });
    const browser = openBrowser(connect(github));
    github.misbehave({
      answer: (path) =>
        path === "/token" ? Response.json({ error: "bad_verification_code" }) : null,
    });
    const answer = await browser.signIn(github, ADA);
    await expectNobody(browser, answer.status);
    expect(log).toHaveBeenCalledWith({
      event: "signin_failed",
      provider: "github-like",
      failure: "provider_failed",
      reason: "bad_verification_code",
    });
  });
});
