// A program with a person's connection gives an agent a budget of 50 credits. The agent cannot spend more, whatever it does.
import { readFileSync, writeFileSync } from "node:fs";
import { createClient, isPassbookError } from "passbook-client";
import { createOAuthClient } from "passbook-client/oauth";

const baseUrl = process.env.PASSBOOK_URL ?? "http://localhost:8787";
const { CLIENT_ID, REDIRECT_URI, TOKENS, APP = "sketch" } = process.env;

// The tokens of the connection, as the program stored them after the person allowed it.
const oauth = createOAuthClient({ baseUrl, clientId: CLIENT_ID, redirectUri: REDIRECT_URI });
const connection = oauth.connection(JSON.parse(readFileSync(TOKENS, "utf8")), {
  onTokens: (tokens) => writeFileSync(TOKENS, JSON.stringify(tokens)),
});

const agent = await connection.exchange({
  caps: [{ credits: 50, period: "total" }],
  apps: [APP],
  expiresIn: 600,
});

/** What the agent runs. It gets a token of its own, and never that of the program. */
async function work(token) {
  const passbook = createClient({ baseUrl, token });
  for (let picture = 1; ; picture += 1) {
    const { job } = await passbook.runJob(
      { app: APP, action: "draw", costEstimate: 20 },
      async () => ({ result: null, actualCost: 20 }),
    );
    console.log(`Picture ${picture} cost ${job.actual_cost} credits.`);
  }
}

try {
  await work(await agent.token());
} catch (error) {
  if (!isPassbookError(error, "token_budget_exceeded")) throw error;
  console.log(`The agent stopped: ${error.body.room} credits of its budget are left.`);
} finally {
  await agent.revoke();
}
