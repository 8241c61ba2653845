/** The links to download one's data and to delete the account. */

export function DataSection() {
  return (
    <section class="panel" aria-labelledby="your-data">
      <h2 id="your-data">Your data</h2>
      <p class="hint">Download everything that this service stores about you as one JSON file.</p>
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
