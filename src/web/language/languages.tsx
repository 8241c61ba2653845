/** The choice of a language, in the frame of every page for people. */
import { LANGUAGES, LANGUAGE_TAGS } from "../../domain/language.ts";
import { currentShell } from "../layout/shell.ts";
import { t } from "./text.tsx";

/** A button for each other language, named in that language. */
export function Languages() {
  const { language, has_languages } = currentShell();
  if (!has_languages) return null;
  const others = LANGUAGE_TAGS.filter((it) => it !== language);
  return (
    <form method="post" action="/language" class="languages" aria-label={t("Language")}>
      {others.map((other) => (
        <button type="submit" class="plain" name="language" value={other} lang={other}>
          {LANGUAGES[other].name}
        </button>
      ))}
    </form>
  );
}
