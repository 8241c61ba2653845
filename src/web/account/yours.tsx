/** What a person can take with them. */

export function Yours() {
  return (
    <section class="panel" aria-labelledby="yours">
      <h2 id="yours">Your data</h2>
      <p class="hint">
        Everything this service holds about you, as one file that programs can read.
      </p>
      <p class="acts">
        <a class="button quiet small" href="/account/data.json" download>
          Download my data
        </a>
      </p>
      <p class="hint">
        You can also <a href="/account/delete">delete your account</a>.
      </p>
    </section>
  );
}
