/** No page for people has English in its German. */
import { describe, expect, it } from "vitest";
import { GERMAN } from "../../../../src/web/language/german.ts";
import { linksOf } from "../../hostile/pages.ts";
import { queryOf, registerDemo } from "../../support/authorizations.ts";
import { fromOwnPage, getToken, startLogin } from "../../support/device_logins.ts";
import { send, signInWithCredits, type Answer, type SignedIn } from "../../support/passbook.ts";
import { ROUTES } from "../../support/routes.ts";
import { checkout, openStripe, SELLING } from "../../payments/till.ts";

const SETTINGS = {
  ...SELLING,
  SIGNIN_METHODS: "passkey, providers",
  SUPPORT_URL: "mailto:a@b.example",
};

/** Words that English has and German has not. */
const ENGLISH =
  /\b(the|and|you|your|is|are|of|to|for|with|this|that|not|can|has|until|since|it|its|by|only|no)\b/i;

/** What a page says: its texts, and the attributes that a person hears, sees or gets from a script. */
function textsOf({ text }: Answer): readonly string[] {
  const said = /\s(?:aria-label|title|placeholder|alt|data-[\w-]+|value)="([^"]*)"/g;
  const attributes = [...text.matchAll(said)].map(([, value = ""]) => value);
  const body = text.replace(/<(script|style|code|textarea)\b[\s\S]*?<\/\1>/g, "");
  const texts = body.split(/<[^>]+>/).map((it) => it.replaceAll(/\s+/g, " ").trim());
  return [...texts, ...attributes].filter((it) => it !== "");
}

/** Pages from link to link, two of a route. */
async function pagesFrom(
  first: readonly string[],
  open: (address: string) => Promise<Answer>,
): Promise<readonly string[]> {
  const addresses = [...first];
  const seen = new Map<string, number>();
  const pages: string[] = [];
  for (const address of addresses) {
    const [path = ""] = address.split("?");
    const shape = path.replaceAll(/[0-9a-f-]{30,}/g, ":id");
    const times = seen.get(shape) ?? 0;
    if (times >= 4 || /^\/(api|console|static)/.test(path)) continue;
    seen.set(shape, times + 1);
    const page = await open(address);
    if (!(page.headers.get("Content-Type") ?? "").startsWith("text/html")) continue;
    pages.push(address);
    addresses.push(...linksOf(address, page).filter((link) => !addresses.includes(link)));
  }
  return pages;
}

async function withHistory(): Promise<SignedIn> {
  const person = await signInWithCredits("demo", "grete@example.com");
  const start = async (): Promise<string> => {
    const job = { app: "demo", action: "draw", cost_estimate: 10 };
    const { status, body } = await person.post("/api/jobs", job);
    expect(status).toBe(200);
    return body.job_id;
  };
  const [done, failed] = [await start(), await start(), await start()];
  await person.post(`/api/jobs/${done}/complete`, { actual_cost: 4 });
  await person.post(`/api/jobs/${failed}/fail`, { reason: "…" });
  await getToken(person);
  await checkout(person);
  return person;
}

describe("pages in German", () => {
  it("no page says in German what it says in English", async () => {
    openStripe();
    const person = await withHistory();
    await registerDemo();
    const { user_code } = await startLogin();
    const openIn =
      (language: string, cookies: string) =>
      (address: string): Promise<Answer> =>
        send(
          "GET",
          address,
          {
            headers: {
              ...fromOwnPage(person),
              Cookie: cookies,
              Accept: "text/html",
              "Accept-Language": language,
            },
          },
          SETTINGS,
        );
    const left: string[] = [];
    const names = new Set<string>(Object.values(GERMAN));
    let count = 0;
    for (const cookies of [person.cookies, ""]) {
      const first = [
        ...ROUTES.filter(({ method }) => method === "GET").map(({ address }) => address),
        `/oauth/authorize?${queryOf()}`,
        `/device?user_code=${user_code}`,
        "/signin?redirect_to=http://localhost:3000/back",
      ];
      for (const address of await pagesFrom(first, openIn("en", cookies))) {
        const german = await openIn("de", cookies)(address);
        count += 1;
        for (const text of textsOf(german)) {
          if (!ENGLISH.test(text) || names.has(text)) continue;
          left.push(`${address}: ${text}`);
        }
      }
    }
    expect([...new Set(left)]).toEqual([]);
    expect(count).toBeGreaterThan(30);
  });

  it("a text has the same values in German as in English", () => {
    const valuesOf = (text: string): readonly string[] =>
      [...text.matchAll(/\{(\w+)\}/g)].map(([name]) => name).toSorted();
    for (const [english, german] of Object.entries(GERMAN))
      expect(valuesOf(german), english).toEqual(valuesOf(english));
  });
});
