/** What the console shows to operators whose role is not admin. */
import { describe, expect, it } from "vitest";
import { getToken } from "../../support/device_logins.ts";
import { send, signIn, signInWithCredits } from "../../support/passbook.ts";
import { operatorOnPages } from "../../http/api/admin/operators.ts";
import { pageOf, words } from "./pages.ts";

const STAFF = {
  OPERATORS: "olga@example.com, sam@example.com=support, vera@example.com=viewer",
};

async function consoleOf(email: string) {
  const person = await signIn(email);
  const headers = { Cookie: person.cookies, Accept: "text/html" };
  return {
    operator: operatorOnPages(person, STAFF),
    open: (path: string) => send("GET", path, { headers }, STAFF),
  };
}

/** The addresses of the forms on a page, and of its links to pages with a form. */
const FORMS =
  /(?:action="([^"]+)" class="act"|href="([^"?]+\/(?:credits|plan|suspend|restore|signout|revoke-token|rebuild|new-app|revoke-key))[?"])/g;
const formsOn = (html: string) =>
  [...html.matchAll(FORMS)].map(([, form, link]) => (form ?? link ?? "").split("/").at(-1));

async function people() {
  const ada = await signInWithCredits();
  await getToken(ada);
  const olga = await consoleOf("olga@example.com");
  const app = { name: "Demo", starter_credits: 5, origins: [], daily_starter_budget: null };
  await olga.operator.send("PUT", "/api/admin/apps/demo", app);
  await olga.operator.send("POST", "/api/admin/apps/demo/keys", { label: "server" });
  return { ada, olga };
}

describe("the console of an operator with a lower role", () => {
  it("offers on each page only what the role may do, and says which role the rest requires", async () => {
    const { ada, olga } = await people();
    const [sam, vera] = [await consoleOf("sam@example.com"), await consoleOf("vera@example.com")];
    const formsOf = async (operator: typeof sam, path: string) =>
      formsOn((await operator.open(path)).text);
    const account = pageOf(ada);
    expect(await formsOf(olga, account)).toEqual(
      expect.arrayContaining(["credits", "plan", "revoke-token", "signout", "suspend", "rebuild"]),
    );
    expect(await formsOf(sam, account)).toEqual(["credits", "revoke-token", "signout", "suspend"]);
    expect(await formsOf(vera, account)).toEqual([]);
    expect(words((await sam.open(account)).text)).toContain(
      "Refresh lists and charts requires the role admin",
    );
    expect(words((await vera.open(account)).text)).toContain("Suspend requires the role support");
    for (const path of ["/console/apps", "/console/apps/demo"]) {
      expect((await formsOf(olga, path)).length, path).toBeGreaterThan(0);
      expect(await formsOf(sam, path), path).toEqual([]);
      const { text } = await vera.open(path);
      expect(formsOn(text), path).toEqual([]);
      expect(words(text), path).toContain("requires the role admin");
    }
    const { text } = await vera.open("/console/apps/demo");
    // Only the search of the header is a form.
    expect(text.slice(text.indexOf("<main"))).not.toMatch(/<(input|select|textarea|fieldset)/);
    expect(words(text)).toMatch(/Name Demo Icon none/);
    expect(words(text)).toContain("Only this app can use them no");
    expect(words(text)).toContain("Who can complete and fail its jobs");
  });

  it("opening a form's page says which role it requires and links to the operators", async () => {
    const { ada } = await people();
    const vera = await consoleOf("vera@example.com");
    const { status, text } = await vera.open(pageOf(ada, "/suspend"));
    expect(status).toBe(403);
    expect(words(text)).toContain("This requires the role support.");
    expect(text).toContain('href="/console/operators"');
  });

  it("the page of operators lists them with their roles and marks the role of the reader", async () => {
    const vera = await consoleOf("vera@example.com");
    const { status, text } = await vera.open("/console/operators");
    expect(status).toBe(200);
    expect(words(text)).toContain(
      "revokes connections and tokens, refunds jobs, and gives or takes",
    );
    expect(words(text)).toContain("sam@example.com support");
    expect(words(text)).toContain("viewer You");
    expect(words(text)).toContain("up to 1,000 credits a day in all");
  });
});
