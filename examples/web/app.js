// A page that signs people in, shows their live balance, and draws for credits. It needs no build step.
import { createElement as h, useState } from "react";
import { createRoot } from "react-dom/client";
import { createClient } from "passbook-client";
import { PassbookProvider, usePassbook, useSignIn, useWallet } from "passbook-client/react";

const { passbook: baseUrl } = document.documentElement.dataset;
const cookies = new URLSearchParams(location.search).has("cookies");
const client = createClient({ baseUrl, ...(cookies ? { cookies } : { storage: sessionStorage }) });

const div = (...parts) => h("div", null, ...parts);
const text = (words) => h("p", { role: "status" }, words);
const button = (name, onClick) => h("button", { onClick: () => onClick() }, name);

// Stands for the real work: it stops when the signal is aborted.
async function drawSlowly(signal) {
  for (let step = 0; step < 10; step += 1) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    signal.throwIfAborted();
  }
  return "a lighthouse";
}

function Drawing() {
  const passbook = usePassbook();
  const [message, setMessage] = useState("");
  const [stop, setStop] = useState(null);
  async function draw() {
    const stopping = new AbortController();
    setStop(() => () => stopping.abort(new Error("stopped")));
    try {
      const { result, job } = await passbook.runJob(
        { app: "sketch", action: "draw", costEstimate: 10, ttlSeconds: 300 },
        async ({ signal }) => ({ result: await drawSlowly(signal), actualCost: 7 }),
        { signal: stopping.signal },
      );
      setMessage(`Here is ${result}. It cost ${job.actual_cost} credits.`);
    } catch (error) {
      setMessage(`Nothing was charged: ${error.message}`);
    }
    setStop(null);
  }
  if (stop !== null) return div(text("Drawing …"), button("Stop", stop));
  return div(text(message), button("Draw for 10 credits", draw));
}

function App() {
  const [person, wallet] = [useSignIn(), useWallet()];
  if (person.status === "loading") return text("…");
  if (person.status === "signed_in")
    return div(`${wallet.credits} credits`, h(Drawing), button("Sign out", person.signOut));
  const message = text(person.error?.message ?? "You are not signed in.");
  if (person.status === "error") return div(message, button("Try again", person.retry));
  return div(message, button("Sign in", person.signIn));
}

const provider = h(PassbookProvider, { client, app: "sketch" }, h(App));
createRoot(document.querySelector("main")).render(provider);
