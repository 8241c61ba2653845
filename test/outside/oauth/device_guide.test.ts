/** The commands of docs/device-login.md, "By RFC 8628", as written, in a shell against a running Worker. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { approveDevice, heard, startOAuthService } from "./service.ts";

const [, section = ""] =
  /^## By RFC 8628\n([^]*?)^## /m.exec(readFileSync("docs/device-login.md", "utf8")) ?? [];

it(
  "the commands of the guide start a login, and collect its token after a person approved it",
  { tags: "slow" },
  async () => {
    const service = await startOAuthService("device");
    try {
      const commands = [...section.matchAll(/^```sh\n([^]*?)^```/gm)]
        .map(([, block = ""]) => block)
        .join("")
        .replace("http://localhost:8787", service.issuer);
      const shell = spawn("bash", ["-ec", commands]);
      let output = "";
      shell.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
      const ended = new Promise((resolve) => shell.once("close", resolve));
      const [, user_code = ""] = await heard(shell, /user_code=([A-Z-]{9})\n/);
      await approveDevice(service, user_code, "tv@example.com");
      shell.stdin.end("\n");
      expect(await ended, output).toBe(0);
      expect(output).toMatch(/"access_token":"pb_pat_[^"]+","token_type":"Bearer"/);
    } finally {
      await service.stop();
    }
  },
);
