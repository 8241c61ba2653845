/** A secret that is shown once. Readable without a script: the button appears only if it can copy. */
import type { PropsWithChildren } from "hono/jsx";
import { t } from "../language/text.tsx";

interface SecretProps {
  readonly label: string;
  readonly text: string;
  /** The height of its field in lines. */
  readonly rows?: number;
  /** The class of its field. */
  readonly style?: string;
  /** Whether copying is not the main thing to do next. */
  readonly is_quiet?: boolean;
}

/** A page that shows it loads `copy.js`. `children`: next to the button. */
export function Secret(props: PropsWithChildren<SecretProps>) {
  const { label, text, rows = 2, style = "secret", is_quiet = false, children } = props;
  return (
    <>
      <label for="shown-secret">{label}</label>
      <textarea
        id="shown-secret"
        class={style}
        rows={rows}
        readonly
        spellcheck={false}
        autocomplete="off"
      >
        {text}
      </textarea>
      <div class="acts next">
        <button
          type="button"
          class={is_quiet ? "quiet" : undefined}
          data-copy="shown-secret"
          data-copied={t("Copied")}
          data-by-key={t("Press Ctrl+C to copy")}
          hidden
        >
          {t("Copy")}
        </button>
        {children}
      </div>
    </>
  );
}
