/** Selecting accounts in the console's list, and suspending them for one reason. */
import { describe, expect, it } from "vitest";
import { fireAlarm } from "../../support/account_object.ts";
import { send, signIn, signInWithCredits, type SignedIn } from "../../support/passbook.ts";
import { fromOwnPage } from "../../support/device_logins.ts";
import { hiddenFields, linesOf, openConsole, pageOf, words } from "./pages.ts";

const PATH = "/console/accounts/suspend";
const REASON = "Wave of 21 November";

const idsOf = (people: readonly SignedIn[]) =>
  people.map(({ identity_id }) => `id=${identity_id}`).join("&");

async function consoleAndWave() {
  const browser = await openConsole();
  const ada = await signInWithCredits("demo", "ada@wave.example");
  const bob = await signInWithCredits("demo", "bob@wave.example");
  for (const { identity_id } of [ada, bob]) await fireAlarm(identity_id);
  return { ...browser, ada, bob };
}

const isSuspended = async (person: SignedIn): Promise<boolean> =>
  (await person.get("/api/wallet")).body.code === "suspended";

describe("suspending selected accounts", () => {
  it("each account of the list can be selected, except suspended ones", async () => {
    const { olga, ada, bob, open } = await consoleAndWave();
    await olga.send("POST", `/api/admin/accounts/${bob.identity_id}/suspend`, { reason: "x" });
    await fireAlarm(bob.identity_id);
    const { text } = await open("/console/accounts?domain=wave.example&sort=credits");
    expect(text).toContain(`value="${ada.identity_id}" aria-label="Select ada@wave.example"`);
    expect(text).not.toContain("Select bob@");
    expect(text).toContain('name="back" value="sort=credits&amp;domain=wave.example"');
  });

  it("the confirmation lists name, address and credits, and suspends after it with a record for each", async () => {
    const { olga, ada, bob, open, fill } = await consoleAndWave();
    const path = `${PATH}?back=domain%3Dwave.example&${idsOf([ada, bob])}`;
    const page = await open(path);
    expect(words(page.text)).toContain("Suspend 2 accounts");
    expect(words(page.text)).toContain("ada@wave.example");
    expect(words(page.text)).toContain(" 100 ");
    expect(await isSuspended(ada)).toBe(false);
    const { status, text, sent } = await fill(path, { reason: REASON, public_reason: "One card." });
    expect(status).toBe(200);
    expect(words(text)).toContain("2 accounts suspended");
    expect(text).toContain('href="/console/accounts?domain=wave.example"');
    for (const person of [ada, bob]) {
      expect(await isSuspended(person)).toBe(true);
      const records = await linesOf(olga, person.identity_id);
      expect(records).toHaveLength(1);
      expect((await person.get("/api/wallet")).body.public_reason).toBe("One card.");
      expect(records[0]).toMatchObject({ act: "account.suspend", reason: REASON });
      expect(records[0].details).toMatchObject({ outcome: "done", accounts: 2 });
    }
    await olga.send("POST", `/api/admin/accounts/${ada.identity_id}/restore`, { reason: "ok" });
    const body = new URLSearchParams(sent);
    const headers = { ...fromOwnPage(olga.person), Accept: "text/html" };
    await send("POST", PATH, { headers, body }, olga.settings);
    expect(await isSuspended(ada)).toBe(false);
  });

  it("a form that is sent again with another reason suspends nobody and gets a new key", async () => {
    const { ada, bob, fill, submit } = await consoleAndWave();
    const { sent } = await fill(`${PATH}?${idsOf([ada])}`, { reason: REASON });
    const again = await submit(PATH, { ...sent, identity_ids: bob.identity_id });
    expect(again.status).toBe(422);
    expect(words(again.text)).toContain("already sent with other values");
    expect(hiddenFields(again.text)["key"]).not.toBe(sent["key"]);
    expect(await isSuspended(bob)).toBe(false);
  });

  it("without a reason the form is shown again with its accounts, and suspends nobody", async () => {
    const { ada, bob, fill } = await consoleAndWave();
    const { status, text } = await fill(`${PATH}?${idsOf([ada, bob])}`, { reason: " " });
    expect(status).toBe(400);
    expect(words(text)).toContain("The reason must not be empty.");
    expect(hiddenFields(text)["identity_ids"]).toBe(`${ada.identity_id} ${bob.identity_id}`);
    expect(await isSuspended(ada)).toBe(false);
  });

  it("an empty selection and more than 100 accounts lead back to the list, which says why", async () => {
    const { ada, open, submit } = await consoleAndWave();
    const many = Array.from({ length: 100 }, (_, at) => `u${at}`);
    const form = { key: "k", reason: REASON, back: "q=ada" };
    const too_many = [...many, ada.identity_id];
    for (const [selection, text, answers] of [
      ["none", "No account is selected", [open(`${PATH}?back=q%3Dada`), submit(PATH, form)]],
      [
        "many",
        "More than 100 accounts are selected",
        [
          open(`${PATH}?back=q%3Dada&${too_many.map((id) => `id=${id}`).join("&")}`),
          submit(PATH, { ...form, identity_ids: too_many.join(" ") }),
        ],
      ],
    ] as const) {
      for (const { status, headers } of await Promise.all(answers)) {
        expect(status).toBe(303);
        expect(headers.get("Location")).toBe(`/console/accounts?q=ada&selection=${selection}`);
      }
      const list = await open(`/console/accounts?q=ada&selection=${selection}`);
      expect(words(list.text)).toContain(text);
    }
    expect(await isSuspended(ada)).toBe(false);
    expect((await open(`${PATH}?${many.map((id) => `id=${id}`).join("&")}`)).status).toBe(200);
  });

  it("the role support cannot suspend an admin among others, and the page says so for that account", async () => {
    const { olga, ada } = await consoleAndWave();
    const settings = {
      OPERATORS: "olga@example.com, sam@example.com=support, vera@example.com=viewer",
    };
    const [sam, vera] = [await signIn("sam@example.com"), await signIn("vera@example.com")];
    const headers = { ...fromOwnPage(sam), Accept: "text/html" };
    const identity_ids = `${olga.person.identity_id} ${ada.identity_id}`;
    const body = new URLSearchParams({ key: "k", reason: REASON, identity_ids });
    const { text } = await send("POST", PATH, { headers, body }, settings);
    expect(words(text)).toContain("1 of 2 accounts suspended");
    expect(words(text)).toContain("not suspended This requires the role admin.");
    expect(hiddenFields(text)).toMatchObject({ key: "k", identity_ids, reason: REASON });
    expect(await isSuspended(olga.person)).toBe(false);
    expect(await isSuspended(ada)).toBe(true);
    const by_vera = { headers: { Cookie: vera.cookies, Accept: "text/html" } };
    const list = await send("GET", "/console/accounts", by_vera, settings);
    expect(list.text).toContain(pageOf(ada));
    expect(list.text).not.toContain('name="id"');
    expect(list.text).not.toContain("Suspend selected");
  });
});
