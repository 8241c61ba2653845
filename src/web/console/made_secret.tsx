/** The secret that was just made, or a note that it was shown before. */
import type { Child } from "hono/jsx";
import { Secret } from "../layout/secret.tsx";

interface MadeSecretProps {
  /** Such as “the webhook’s secret”. */
  readonly name: string;
  /** Null: the form was sent twice, and the first response had the secret. */
  readonly secret: string | null;
  /** The advice if the secret was not saved, as the end of a sentence. */
  readonly otherwise: string;
  readonly note?: Child;
}

export function MadeSecret({ name, secret, otherwise, note }: MadeSecretProps) {
  if (secret === null) {
    return (
      <p>
        This form was already sent, and {name} was shown then. If you did not save it, {otherwise}.
      </p>
    );
  }
  return (
    <>
      <p>
        <strong>This is {name}. It is shown only once.</strong> Store it with your server’s secrets.{" "}
        {note}
      </p>
      <Secret label="Secret" text={secret} />
    </>
  );
}
