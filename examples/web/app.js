// A page that signs people in, shows their balance, and draws for credits.
import { createClient, isPassbookError } from "passbook-client";

const cookies = new URLSearchParams(location.search).has("cookies");
const passbook = createClient({
  baseUrl: import.meta.env.VITE_PASSBOOK_URL ?? "http://localhost:8787",
  ...(cookies ? { cookies: true } : {}),
});

const element = (id) => document.getElementById(id);
const show = (id, visible) => (element(id).hidden = !visible);
const say = (text) => (element("status").textContent = text);

async function showBalance() {
  const { account } = await passbook.wallet({ app: "sketch" });
  element("balance").textContent = `${account.credits} credits`;
  show("signin", false);
  show("draw", true);
}

// Stands for the real work: shows its progress, and stops when the signal is aborted.
async function drawSlowly(signal) {
  for (let step = 1; step <= 10; step += 1) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    signal.throwIfAborted();
    element("progress").value = step;
  }
  return "a lighthouse";
}

async function draw() {
  const stopping = new AbortController();
  const stop = () => stopping.abort(new Error("stopped"));
  element("stop").addEventListener("click", stop, { once: true });
  for (const id of ["stop", "progress"]) show(id, true);
  show("draw", false);
  say("Drawing …");
  try {
    const { result, job, credits } = await passbook.runJob(
      { app: "sketch", action: "draw", costEstimate: 10, ttlSeconds: 300 },
      async ({ signal }) => ({
        result: await drawSlowly(signal),
        actualCost: 7,
        metadata: { description: "A lighthouse at dusk" },
      }),
      { signal: stopping.signal },
    );
    say(`Here is ${result}. It cost ${job.actual_cost} credits.`);
    element("balance").textContent = `${credits} credits`;
  } catch (error) {
    const poor = isPassbookError(error, "insufficient_credits");
    say(poor ? "You have too few credits." : `Nothing was charged: ${error.message}`);
    // The reserve is being refunded.
    await passbook.whenIdle();
    await showBalance();
  } finally {
    for (const id of ["stop", "progress"]) show(id, false);
    show("draw", true);
  }
}

element("signin").addEventListener("click", () => passbook.startSignIn());
element("draw").addEventListener("click", () => void draw());

try {
  // After a sign-in, takes the token out of the URL first.
  passbook.finishSignIn();
  await showBalance();
} catch (error) {
  const known = ["no_credentials", "unauthorized"].some((code) => isPassbookError(error, code));
  element("balance").textContent = known ? "You are not signed in." : error.message;
  show("signin", true);
}
