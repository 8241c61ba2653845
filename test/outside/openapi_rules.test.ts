import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

interface Report {
  readonly problems: readonly {
    readonly ruleId: string;
    readonly message: string;
    readonly location: readonly { readonly pointer: string }[];
  }[];
}

it("the OpenAPI document passes Redocly's recommended rules without errors or warnings", async () => {
  const redocly = "node_modules/@redocly/cli/bin/cli.js";
  const file = "docs/openapi.json";
  const options = ["lint", file, "--extends=recommended", "--format=json"];
  const env = {
    ...process.env,
    REDOCLY_TELEMETRY: "off",
    REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
  };
  // Redocly exits with an error if it finds problems. Its output lists them in both cases.
  const { stdout } = await promisify(execFile)(process.execPath, [redocly, ...options], {
    env,
  }).catch((failed: { stdout: string }) => failed);
  const { problems } = JSON.parse(stdout) as Report;
  const found = problems.map(({ ruleId, message, location }) => {
    return `${ruleId} at ${location[0]?.pointer}: ${message}`;
  });
  expect(found).toEqual([]);
});
