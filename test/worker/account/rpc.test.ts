import { env } from "cloudflare:workers";
import { expect, it } from "vitest";

it("a Worker cannot read the parts of an account by RPC", async () => {
  const account = env.ACCOUNT.getByName("ada") as unknown as {
    readonly instance: Promise<unknown>;
    readonly isDeleted: () => Promise<boolean>;
  };
  expect(await account.isDeleted()).toBe(false);
  await expect(account.instance).rejects.toThrow('does not implement "instance"');
});
