/** The service's logo: an open book with lines of figures, in the service's colour. */

const BOOK = "M7 3h11a3 3 0 0 1 3 3v12a3 3 0 0 1-3 3H7a4 4 0 0 1-4-4V7a4 4 0 0 1 4-4Z";
const LINES = "M8 3.5v17M12 9h5.5M12 13h5.5M12 17h3";

export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 24 24" width="28" height="28" aria-hidden="true">
      <path class="logo-book" d={BOOK} />
      <path class="logo-lines" d={LINES} />
    </svg>
  );
}

/** The logo as a file, in one colour that is visible on light and dark tabs. */
export function favicon(accent: string): string {
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">` +
    `<path fill="${accent}" d="${BOOK}"/>` +
    `<path fill="none" stroke="#fff" stroke-width="1.6" stroke-linecap="round" d="${LINES}"/></svg>\n`
  );
}
