// Creates and uses passkeys (WebAuthn) for forms with data-passkey: that address starts what the form finishes. Without
// this script the form is sent without a passkey, and the server says what is missing.
(() => {
  const toBytes = (text) =>
    Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (it) => it.charCodeAt(0));
  const toText = (buffer) =>
    btoa(Array.from(new Uint8Array(buffer ?? []), (it) => String.fromCharCode(it)).join(""))
      .replaceAll("+", "-")
      .replaceAll("/", "_")
      .replaceAll("=", "");
  // The form has the texts.
  const problems = {
    InvalidStateError: "exists",
    NotAllowedError: "unused",
    NotSupportedError: "unsupported",
    SecurityError: "wrongAddress",
  };

  // The names are those of RegistrationResponseJSON and AuthenticationResponseJSON, which older browsers lack.
  const created = (response) => ({
    authenticatorData: toText(response.getAuthenticatorData()),
    publicKey: toText(response.getPublicKey()),
    publicKeyAlgorithm: response.getPublicKeyAlgorithm(),
  });
  const used = (response) => ({
    authenticatorData: toText(response.authenticatorData),
    signature: toText(response.signature),
    userHandle: toText(response.userHandle),
  });
  // 5 minutes, as WebAuthn recommends. The server refuses a response without user verification.
  const timeout = 300_000;
  const userVerification = "required";
  const askFor = async ({ user, excludeCredentials, ...options }) => {
    const publicKey = { ...options, timeout, challenge: toBytes(options.challenge) };
    if (user === undefined) {
      return navigator.credentials.get({ publicKey: { ...publicKey, userVerification } });
    }
    return navigator.credentials.create({
      publicKey: {
        ...publicKey,
        user: { ...user, id: toBytes(user.id) },
        excludeCredentials: excludeCredentials.map((it) => ({ ...it, id: toBytes(it.id) })),
        // ES256 first, because every browser exports its keys; then EdDSA and RS256.
        pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: "public-key", alg })),
        authenticatorSelection: {
          residentKey: "required",
          requireResidentKey: true,
          userVerification,
        },
        attestation: "none",
      },
    });
  };

  const run = async (form) => {
    if (window.PublicKeyCredential === undefined) {
      return form.dataset.noPasskeys;
    }
    const answer = await fetch(form.dataset.passkey, {
      method: "POST",
      headers: { Accept: "application/json" },
      body: new URLSearchParams(new FormData(form)),
    });
    // The person was signed out: load the page that the server redirects to.
    if (answer.redirected) return void location.reload();
    const started = await answer.json();
    if (!answer.ok) return started.error;
    const { id, response } = await askFor(started);
    const sent = "signature" in response ? used(response) : created(response);
    const clientDataJSON = toText(response.clientDataJSON);
    form.elements.response.value = JSON.stringify({ id, response: { ...sent, clientDataJSON } });
    form.submit();
  };

  const busy = new Set();
  const handle = async (form) => {
    if (busy.has(form)) return;
    busy.add(form);
    const status = form.querySelector("[data-passkey-status]");
    status.textContent = "";
    try {
      status.textContent = (await run(form)) ?? "";
    } catch ({ name }) {
      status.textContent = form.dataset[problems[name] ?? "failed"];
    } finally {
      busy.delete(form);
    }
  };
  addEventListener("submit", (event) => {
    if (event.target.dataset.passkey === undefined) return;
    event.preventDefault();
    void handle(event.target);
  });
})();
