/** The page Security: the person's sign-in methods, the ones that they can add, passkeys, and the recovery code. */
import type { LinkedMethod, Person, SignInMethod } from "../../identity/port.ts";
import { rich, t, type Said } from "../language/text.tsx";
import { NoticeLine, Page } from "../layout/layout.tsx";
import { Time, Zone } from "../layout/time.tsx";
import { PasskeyForm } from "../signin/passkey_form.tsx";

interface SignInMethodsProps {
  readonly person: Person;
  readonly methods: readonly SignInMethod[];
  /** The suggested name of a new passkey; null: nobody can sign in with a passkey. */
  readonly new_passkey: string | null;
}

export function SecurityPage(props: SignInMethodsProps & { readonly notice: Said | null }) {
  const { new_passkey, notice } = props;
  const scripts = new_passkey === null ? [] : (["passkey.js"] as const);
  return (
    <Page title={t("Security")} section="security" scripts={["times.js", ...scripts]}>
      <NoticeLine notice={notice} />
      <div class="page-head">
        <h1>{t("Security")}</h1>
      </div>
      <div class="sections">
        <SignInMethods {...props} />
        {new_passkey === null ? null : <NewPasskey new_passkey={new_passkey} />}
        <RecoveryCode {...props} />
      </div>
      <p class="hint">
        {rich(
          "Where you are signed in, and what else can use your account, is on the page {access}.",
          {
            access: <a href="/account/access">{t("Access")}</a>,
          },
        )}
      </p>
      <Zone />
    </Page>
  );
}

function SignInMethods({ person, methods }: Omit<SignInMethodsProps, "new_passkey">) {
  const only_one = person.linked.length < 2;
  return (
    <section class="panel" aria-labelledby="linked">
      <h2 id="linked">{t("How you sign in")}</h2>
      <ul class="rows">
        {person.linked.map((linked) => (
          <Linked linked={linked} name={nameOf(linked, methods)} can_remove={!only_one} />
        ))}
      </ul>
      {only_one ? (
        <p class="hint">{t("This is your only way to sign in, so it cannot be removed.")}</p>
      ) : null}
      <OtherMethods person={person} methods={methods} />
    </section>
  );
}

function Linked(props: {
  readonly linked: LinkedMethod;
  readonly name: string;
  readonly can_remove: boolean;
}) {
  const { name, can_remove } = props;
  const { provider, linked_at_ms, passkey } = props.linked;
  return (
    <li>
      <span>
        <strong>{name}</strong>
        {passkey === null ? null : <span class="tag">{t("passkey")}</span>}
        <span class="hint below">
          {rich("since {day}", { day: <Time at_ms={linked_at_ms} style="day" /> })}
          {passkey === null ? null : <LastUse {...passkey} />}
        </span>
      </span>
      {can_remove ? (
        <form method="post" action="/account/unlink">
          <input type="hidden" name="provider" value={provider} />
          <button type="submit" class="quiet small">
            {passkey === null ? t("Unlink") : t("Remove")}
            <span class="unseen">{` ${name}`}</span>
          </button>
        </form>
      ) : null}
    </li>
  );
}

function LastUse({ last_used_at_ms: at_ms }: { readonly last_used_at_ms: number | null }) {
  if (at_ms === null) return <>{` · ${t("not used yet")}`}</>;
  return <> · {rich("last used {time}", { time: <Time at_ms={at_ms} style="minute" /> })}</>;
}

function OtherMethods({ person, methods }: Omit<SignInMethodsProps, "new_passkey">) {
  const linked = new Set(person.linked.map(({ provider }) => provider));
  const others = methods.filter(({ id }) => !linked.has(id));
  if (others.length === 0) return null;
  return (
    <div class="acts">
      {others.map(({ id, name }) => (
        <form method="post" action="/account/link">
          <input type="hidden" name="provider" value={id} />
          <button type="submit" class="quiet small">
            {t("Link {name}", { name })}
          </button>
        </form>
      ))}
    </div>
  );
}

function NewPasskey({ new_passkey }: { new_passkey: string }) {
  return (
    <section class="panel" aria-labelledby="new-passkey">
      <h2 id="new-passkey">{t("Add a passkey")}</h2>
      <p class="hint">
        {t(
          "With a passkey you sign in by your fingerprint, your face or your screen lock. Add one for each device or password manager that you use.",
        )}
      </p>
      <PasskeyForm start="/account/passkey" button={t("Add a passkey")} small>
        <label for="passkey-name">{t("Name of a new passkey")}</label>
        <input
          id="passkey-name"
          name="passkey_name"
          type="text"
          value={new_passkey}
          autocomplete="off"
          required
          maxlength={60}
        />
      </PasskeyForm>
    </section>
  );
}

/** Only for people who have a passkey or a code, on a service with passkeys. */
function RecoveryCode({ person, new_passkey }: SignInMethodsProps) {
  const { recovery_code_at_ms: made_at_ms } = person;
  const has_passkey = person.linked.some(({ passkey }) => passkey !== null);
  if (new_passkey === null || (!has_passkey && made_at_ms === null)) return null;
  return (
    <section class="panel" aria-labelledby="recovery">
      <h2 id="recovery">{t("Recovery code")}</h2>
      <form method="post" action="/account/recovery-code" class="passkey">
        <p class="hint">
          {made_at_ms === null
            ? t("You have no recovery code. With one, you can sign in if you lose your passkeys.")
            : rich(
                "Your recovery code is from {day}. A new one replaces it, and ends what you signed in or approved with the old one.",
                { day: <Time at_ms={made_at_ms} style="day" /> },
              )}
        </p>
        <button type="submit" class="quiet small">
          {made_at_ms === null ? t("Make a recovery code") : t("Make a new recovery code")}
        </button>
      </form>
    </section>
  );
}

/** The method's name; for a method that was removed from the settings, its id. */
function nameOf({ provider, passkey }: LinkedMethod, methods: readonly SignInMethod[]): string {
  if (passkey !== null) return passkey.name;
  if (provider === "dev") return t("Development");
  return methods.find(({ id }) => id === provider)?.name ?? provider;
}
