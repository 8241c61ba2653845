// A command-line tool that signs its user in by device login, and pays for its work with the user's credits.
import { createClient, isPassbookError } from "passbook-client";

const baseUrl = process.env.PASSBOOK_URL ?? "http://localhost:8787";

const token = await createClient({ baseUrl }).logInDevice({
  clientName: "Render tool",
  app: "sketch",
  onCode({ user_code, verification_uri }) {
    console.log(`Open ${verification_uri} and enter ${user_code}`);
  },
});

// A real tool would store the token in the user's password store.
const passbook = createClient({ baseUrl, token });
const { account } = await passbook.wallet({ app: "sketch" });
console.log(`You have ${account.credits} credits.`);

const interrupted = new AbortController();
process.once("SIGINT", () => interrupted.abort(new Error("Interrupted.")));

try {
  const { result, job, credits } = await passbook.runJob(
    { app: "sketch", action: "render", costEstimate: 30 },
    async () => ({ result: "~ a lighthouse ~", actualCost: 12 }),
    { signal: interrupted.signal },
  );
  console.log(`${result}\nIt cost ${job.actual_cost} credits; ${credits} are left.`);
} catch (error) {
  const poor = isPassbookError(error, "insufficient_credits");
  console.error(poor ? "You have too few credits." : error.message);
  process.exitCode = 1;
}
await passbook.whenIdle();
