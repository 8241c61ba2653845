import { describe, expect, it } from "vitest";
import { createApp } from "../../../../../src/app.ts";
import { servicesFor } from "../../../../../src/services.ts";
import { send, signIn, signInWithCredits } from "../../../support/passbook.ts";
import { personalToken, SETTINGS, signInOperator } from "./operators.ts";

/** Every operator's route, as the app has it. */
const ROUTES = [
  ...new Set(
    createApp(servicesFor)
      .routes.filter(({ method, path }) => method !== "ALL" && path.startsWith("/api/admin/"))
      .map(({ method, path }) => `${method} ${path}`),
  ),
].map((route) => route.split(" ") as [string, string]);

const filled = (path: string, identity_id: string) =>
  path.replace(":identity_id", identity_id).replaceAll(/:\w+/g, crypto.randomUUID());

describe("a non-operator", () => {
  it("this file covers every route of operators", () => {
    expect(ROUTES.length).toBeGreaterThanOrEqual(14);
  });

  it.each(ROUTES)(
    "a non-operator who sends %s %s learns nothing and changes nothing",
    async (method, path) => {
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
      for (const [who, proof, status] of callers) {
        const responses = [];
        for (const identity_id of [ada.identity_id, "user_nobody"]) {
          const headers = {
            ...proof,
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
    },
  );
});
