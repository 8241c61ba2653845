/** The person's sign-in methods, and the ones that they can add. */
import type { Person, SignInMethod } from "../../identity/port.ts";
import { Time } from "../layout/time.tsx";

interface SignInMethodsProps {
  readonly person: Person;
  readonly methods: readonly SignInMethod[];
}

export function SignInMethods({ person, methods }: SignInMethodsProps) {
  const only_one = person.linked.length < 2;
  return (
    <section class="panel" aria-labelledby="linked">
      <h2 id="linked">How you sign in</h2>
      <ul class="rows">
        {person.linked.map(({ provider, linked_at_ms }) => {
          const name = nameOf(provider, methods);
          return (
            <li>
              <span>
                <strong>{name}</strong>
                <span class="hint below">
                  since <Time at_ms={linked_at_ms} style="day" />
                </span>
              </span>
              {only_one ? null : (
                <form method="post" action="/account/unlink">
                  <input type="hidden" name="provider" value={provider} />
                  <button type="submit" class="quiet small">
                    Unlink<span class="unseen">{` ${name}`}</span>
                  </button>
                </form>
              )}
            </li>
          );
        })}
      </ul>
      <OtherMethods person={person} methods={methods} />
    </section>
  );
}

function OtherMethods({ person, methods }: SignInMethodsProps) {
  const linked = new Set(person.linked.map(({ provider }) => provider));
  const others = methods.filter(({ id }) => !linked.has(id));
  if (others.length === 0) return null;
  return (
    <div class="acts">
      {others.map(({ id, name }) => (
        <form method="post" action="/account/link">
          <input type="hidden" name="provider" value={id} />
          <button type="submit" class="quiet small">{`Link ${name}`}</button>
        </form>
      ))}
    </div>
  );
}

/** The method's name; for a method that was removed from the settings, its id. */
function nameOf(provider: string, methods: readonly SignInMethod[]): string {
  if (provider === "dev") return "Development";
  return methods.find(({ id }) => id === provider)?.name ?? provider;
}
