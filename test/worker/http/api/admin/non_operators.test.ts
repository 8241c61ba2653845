import { describe, expect, it } from "vitest";
import { send, signIn, signInWithCredits } from "../../../support/passbook.ts";
import { expectOnEach, ROUTES } from "../../../support/routes.ts";
import { personalToken, SETTINGS, signInOperator } from "./operators.ts";

/** Every operator's route, as the app has it. */
const OPERATOR_ROUTES = ROUTES.filter(({ path }) => path.startsWith("/api/admin/"));

const filled = (path: string, identity_id: string) =>
  path.replace(":identity_id", identity_id).replaceAll(/:\w+/g, crypto.randomUUID());

describe("a non-operator", () => {
  it("a non-operator learns nothing and changes nothing on any route of operators", async () => {
    expect(OPERATOR_ROUTES.length).toBeGreaterThanOrEqual(14);
    const ada = await signInWithCredits();
    const bob = await signIn("bob@example.com");
    const { person } = await signInOperator();
    const limited = await personalToken(person, { scopes: ["read", "write"] });
    const bearer = (token: string | undefined) => ({ Authorization: `Bearer ${token ?? ""}` });
    const callers = [
      ["an ordinary user", bearer(bob.token), 403],
      ["an ordinary browser", { Cookie: bob.cookies, Origin: "http://localhost:3000" }, 403],
      ["an operator's limited token", bearer(limited?.token), 403],
      ["nobody", {}, 401],
      ["a stranger's token", bearer("nonsense"), 401],
    ] as const;
    const body = { amount: 5, reason: "why", plan: "gold" };
    await expectOnEach(OPERATOR_ROUTES, async ({ method, path }, network) => {
      for (const [who, proof, status] of callers) {
        const responses = [];
        for (const identity_id of [ada.identity_id, "user_nobody"]) {
          const headers = {
            ...proof,
            ...network,
            "Content-Type": "application/json",
            "Idempotency-Key": crypto.randomUUID(),
          };
          const init = { headers, ...(method === "GET" ? {} : { body: JSON.stringify(body) }) };
          const response = await send(method, filled(path, identity_id), init, SETTINGS);
          expect(response.status, who).toBe(status);
          responses.push(response.text);
        }
        expect(responses[0], who).toBe(responses[1]);
      }
      const { body: wallet } = await ada.get("/api/wallet");
      expect(wallet.account).toMatchObject({ credits: 100, plan: "free" });
    });
  });
});
