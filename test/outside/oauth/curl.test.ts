/** The commands of docs/oauth.md, "Try it with curl", as written, in a shell against a running Worker. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { blocksOf, runShell } from "../support/guide.ts";
import { startOAuthService } from "./service.ts";

/** `npm run dev` has the port 8787, and the settings that the test's Worker has too. */
const commandsFor = (base_url: string): string =>
  blocksOf("docs/oauth.md", "sh", "Try it with curl")
    .join("")
    .replace("http://localhost:8787", base_url);

it(
  "the walk with curl registers a client, connects with a limit, renews and ends the connection",
  { tags: "slow" },
  async () => {
    const service = await startOAuthService("curl");
    const folder = await mkdtemp(join(tmpdir(), "passbook-curl-"));
    try {
      const status =
        'curl -s -o /dev/null -w "%{http_code}" $BASE_URL/api/wallet -H "Authorization: Bearer $(field access_token)"';
      const commands = `${commandsFor(service.issuer)}\nfield scope; echo; ${status}`;
      const shell = runShell(commands, { cwd: folder });
      const [address] = await shell.heard(/\S+\/oauth\/authorize\?\S+(?=\n)/);
      const back = await service.visit("fay@example.com")(address);
      expect(back.origin).toBe("http://127.0.0.1:9999");
      shell.child.stdin?.end(`${back.searchParams.get("code")}\n`);
      const output = await shell.done();
      expect(output).toContain('"client_id":"sketch~shell"');
      expect(output).toMatch(/"credits":100\b.*"room":50\b/);
      expect(output).toMatch(/\n\{\}\nread write\n401$/);
    } finally {
      await service.stop();
      await rm(folder, { recursive: true, force: true });
    }
  },
);
