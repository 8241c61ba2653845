// The page of the tests of the hooks. It shows each state as text.
import { createElement as h, StrictMode, useState } from "react";
import { createRoot, hydrateRoot } from "react-dom/client";
import { createClient } from "passbook-client";
import { PassbookProvider, useJobs, useSignIn, useWallet } from "passbook-client/react";

const { baseUrl, cookies, hydrate, kept } = globalThis.settings;
const client = createClient({
  baseUrl,
  ...(cookies && { cookies: true }),
  ...(kept && { storage: globalThis[kept], onToken: (token) => (globalThis.newest = token) }),
  retries: 1,
});

function Wallet({ id }) {
  const wallet = useWallet();
  const text =
    wallet.status === "ready" ? `${wallet.credits} credits, ${wallet.held} held` : wallet.status;
  return h("p", { id }, text);
}

function Jobs({ id, status }) {
  const list = useJobs({ app: "sketch", status, limit: 3 });
  if (list.status !== "ready") return h("p", { id }, list.status);
  const texts = list.jobs.map(({ action, status, actual_cost, done }) =>
    [action, status, actual_cost, ...(done === null ? [] : [`${done * 100}%`])].join(" "),
  );
  return h("p", { id }, [...texts, ...(list.hasMore ? ["more"] : [])].join(", ") || "no jobs");
}

function SignIn() {
  const state = useSignIn();
  if (state.status === "loading") return h("p", { id: "person" }, "loading");
  if (state.status === "signed_in")
    return h(
      "p",
      null,
      h("span", { id: "person" }, state.identityId),
      button("Sign out", state.signOut),
    );
  const message = state.error === null ? "" : (state.error.code ?? state.error.message);
  return h(
    "p",
    null,
    h("span", { id: "person" }, `${state.status} ${message}`),
    state.status === "signed_out" && button("Sign in", () => state.signIn()),
    button("Retry", state.retry),
  );
}

function button(name, onClick) {
  return h("button", { key: name, onClick: () => void onClick() }, name);
}

function App() {
  const [shown, setShown] = useState(true);
  const parts = [
    h(Wallet, { key: 1, id: "wallet" }),
    h(Wallet, { key: 2, id: "other-wallet" }),
    h(Jobs, { key: 3, id: "jobs" }),
    h(Jobs, { key: 4, id: "started", status: "started" }),
    h(SignIn, { key: 5 }),
  ];
  return h(
    "div",
    null,
    shown ? parts : null,
    button(shown ? "Hide" : "Show", () => setShown(!shown)),
  );
}

const root = document.getElementById("root");
if (hydrate) {
  hydrateRoot(root, h(PassbookProvider, { client }, h(Wallet, { id: "wallet" })));
} else {
  createRoot(root).render(
    h(StrictMode, null, h(PassbookProvider, { client, app: "sketch" }, h(App))),
  );
}
