/** The links to download one's data and to delete the account. */
import { rich, t } from "../language/text.tsx";

export function DataSection() {
  return (
    <section class="panel" aria-labelledby="your-data">
      <h2 id="your-data">{t("Your data")}</h2>
      <p class="hint">
        {t("Download everything that this service stores about you as one JSON file.")}
      </p>
      <p class="acts">
        <a class="button quiet small" href="/account/data.json" download>
          {t("Download my data")}
        </a>
      </p>
      <p class="hint">
        {rich("You can also {delete}.", {
          delete: <a href="/account/delete">{t("delete your account")}</a>,
        })}
      </p>
    </section>
  );
}
