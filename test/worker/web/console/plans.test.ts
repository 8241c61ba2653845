import { describe, expect, it } from "vitest";
import { send, signIn } from "../../support/passbook.ts";
import { consoleAndAda, pageOf, words } from "./pages.ts";

const PLAN = { id: "studio", name: "Studio", recurring: "1000/month:200\n50/day:0:paint+draw" };

describe("the console's page of plans", () => {
  it("an operator creates a plan, changes it, gives it to an account, and the person sees the next credits", async () => {
    const { olga, ada, fill, open } = await consoleAndAda();
    const created = await fill("/console/plans/plan", PLAN);
    expect([created.status, created.headers.get("Location")]).toEqual([
      303,
      "/console/plans?notice=plan-saved",
    ]);
    const shown = words((await open("/console/plans")).text);
    expect(shown).toContain("1,000 every month, keeps 200 50 every day, only draw, paint");
    const form = (await open("/console/plans/plan?id=studio")).text;
    expect(form).toContain("1000/month:200\n50/day:0:draw+paint");
    await fill("/console/plans/plan?id=studio", { ...PLAN, recurring: "1000/month:200" });
    const { plan } = (await olga.get("/api/admin/plans/studio")).body;
    expect(plan).toMatchObject({ version: 2, recurring: [{ credits: 1000, rollover_max: 200 }] });
    expect((await open(pageOf(ada, "/plan"))).text).toContain(
      '<option value="studio">Studio</option>',
    );
    await fill(pageOf(ada, "/plan"), { plan: "studio", reason: "paid" });
    const { lots } = (await ada.get("/api/wallet")).body;
    expect(lots).toMatchObject([{ origin: "recurring", left: 1000 }]);
    const person = await signIn("ada@example.com");
    const headers = { Cookie: person.cookies, Accept: "text/html" };
    const page = words((await send("GET", "/account", { headers })).text);
    expect(page).toContain("Plan Studio Next credits 1,000 credits on");
  });

  it("a rule that cannot be read keeps the form and says how rules are written", async () => {
    const { fill } = await consoleAndAda();
    const wrong = await fill("/console/plans/plan", { ...PLAN, recurring: "1000/year" });
    expect(wrong.status).toBe(400);
    expect(words(wrong.text)).toContain(
      "“1000/year” must be a rule, such as 1000/month or 1000/month:200.",
    );
    const free = await fill("/console/plans/plan", { ...PLAN, id: "free" });
    expect(words(free.text)).toContain("The id must not be free");
  });

  it("an operator deletes a plan that no account has", async () => {
    const { olga, fill } = await consoleAndAda();
    await fill("/console/plans/plan", PLAN);
    const deleted = await fill("/console/plans/delete?id=studio", {});
    expect(deleted.headers.get("Location")).toBe("/console/plans?notice=plan-deleted");
    expect((await olga.get("/api/admin/plans")).body.plans).toEqual([]);
  });

  it("the page that changes a plan says that a saved plan brings its credits at once, and it does", async () => {
    const { ada, fill, open } = await consoleAndAda();
    await fill("/console/plans/plan", { ...PLAN, recurring: "90/month" });
    const page = words((await open(pageOf(ada, "/plan"))).text);
    expect(page).toContain("A saved plan brings its credits at once");
    expect(page).not.toContain("balance does not change");
    await fill(pageOf(ada, "/plan"), { plan: "studio", reason: "paid" });
    expect((await ada.get("/api/wallet")).body.account.credits).toBe(190);
  });
});
