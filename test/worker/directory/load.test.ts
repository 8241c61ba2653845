/** What each request asks `DIRECTORY`, where people sign in: the table of docs/scale.md, counted. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import scale from "../../../docs/scale.md?raw";
import { openAppServer, type AppServer } from "../http/caller/app_server.ts";
import { countedEnvironment } from "../support/bindings.ts";
import { getToken } from "../support/device_logins.ts";
import { send, signIn, type Answer, type SignedIn } from "../support/passbook.ts";

interface People {
  readonly ada: SignedIn;
  readonly personal_token: string;
  readonly server: AppServer;
}

type Send = (method: string, path: string, headers: object, body?: object) => Promise<Answer>;

const JOB = { app: "demo", action: "draw", cost_estimate: 1 };

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

const ofApp = ({ server, ada }: People) => ({
  ...bearer(server.key),
  "Passbook-Identity": ada.identity_id,
});

/** The requests of the table, by their names there. */
const REQUESTS: Readonly<
  Record<
    string,
    (people: People, ask: Send, settings: object) => Promise<{ readonly status: number }>
  >
> = {
  "a wallet, with a session's token": ({ ada }, ask) =>
    ask("GET", "/api/wallet?app=demo", bearer(ada.token)),
  "a job's creation, with a session's token": ({ ada }, ask) =>
    ask("POST", "/api/jobs", bearer(ada.token), JOB),
  "a job's creation, with a personal token": ({ personal_token }, ask) =>
    ask("POST", "/api/jobs", bearer(personal_token), JOB),
  "a job's creation, with an app's key": (people, ask) =>
    ask("POST", "/api/jobs", ofApp(people), JOB),
  "a list of jobs": ({ ada }, ask) => ask("GET", "/api/jobs", bearer(ada.token)),
  "an app's key that does not exist": ({ server }, ask) =>
    ask("GET", "/api/app", bearer(`${server.key.slice(0, -4)}AAAA`)),
  "renewing a session's token": ({ ada }, ask) => {
    const session = ada.cookies.split("; ").filter((it) => it.startsWith("passbook_session="));
    return ask("GET", "/api/sessionToken", { Cookie: session.join() });
  },
  "signing in for the first time, and again": async (_, __, settings) => {
    await signIn("bob@example.com", settings);
    return { status: 200 };
  },
  "the account page": ({ ada }, ask) => ask("GET", "/account", { Cookie: ada.cookies }),
  "the start of a device login": (_, ask) =>
    ask("POST", "/api/device/start", {}, { device_name: "cli" }),
};

it("asks the directory as often as docs/scale.md says, in a new isolate and in one that is in use", async () => {
  const ada = await signIn();
  const server = await openAppServer("demo");
  await ada.get("/api/wallet?app=demo");
  const people = { ada, server, personal_token: (await getToken(ada)).token };
  const counted: string[] = [];
  for (const [name, request] of Object.entries(REQUESTS)) {
    const { environment, hops } = countedEnvironment();
    const settings = { ...environment, DB: env.DB };
    const ask: Send = (method, path, headers, body) =>
      send(
        method,
        path,
        {
          headers: { "Content-Type": "application/json", ...headers },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        },
        settings,
      );
    const counts: number[] = [];
    for (const _ of ["new", "in use"]) {
      hops.d1 = 0;
      const { status } = await request(people, ask, settings);
      expect([name, status]).toEqual([name, name.endsWith("not exist") ? 401 : 200]);
      counts.push(hops.d1);
    }
    counted.push(`| ${name} | ${counts.join(" | ")} |`);
  }
  const rows = scale.split("\n").filter((line) => counted.some((row) => sameRow(row, line)));
  expect(counted).toEqual(rows);
});

const sameRow = (row: string, line: string): boolean =>
  line.startsWith(row.slice(0, row.indexOf("|", 2) + 1));
