/** Texts in a row. */
import { t } from "../language/text.tsx";

/** "one, two and three". */
export function sequence(texts: readonly string[]): string {
  const [last = ""] = texts.slice(-1);
  return texts.length < 2 ? last : `${texts.slice(0, -1).join(", ")} ${t("and")} ${last}`;
}
