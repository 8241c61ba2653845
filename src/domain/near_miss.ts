/** Whether an unknown name is probably a typing error for a known one. Pure. */

/** One edit per three letters is a typing error. More edits make another word. */
const LETTERS_PER_EDIT = 3;
const EDITS_MAX = 2;

/** A longer name is no typing error: the longest known name has half as many letters. */
const NAME_MAX_LENGTH = 64;

/** Names that other services and our own responses use, and the names that they may stand for here. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  appslug: ["app", "apps"],
  expiresin: ["ttl_seconds"],
  percent: ["spent"],
  since: ["from"],
  timeout: ["ttl_seconds"],
  ttl: ["ttl_seconds"],
};

/**
 * The known name that an unknown one nearly matches, or null. Either it is a synonym, or the letters are the same,
 * ignoring case, `-` and `_`, or few edits turn one into the other: one for a known name of 3 to 5 letters, two
 * for a longer one. Two edits count only if the first letter is the same. Otherwise `caption` and `option`
 * would count as errors for `action`.
 */
export function nearestName(unknown: string, known: readonly string[]): string | null {
  // Also limits the work: a body may have thousands of long names.
  if (unknown.length > NAME_MAX_LENGTH) return null;
  const typed = lettersOf(unknown);
  return (
    known.find((name) => knownLettersOf(name) === typed) ??
    synonymsOf(typed).find((name) => known.includes(name)) ??
    known.find((name) => isSlip(typed, knownLettersOf(name))) ??
    null
  );
}

/** Whether a name stands for the header `Idempotency-Key`. */
export function isIdempotencyKey(name: string): boolean {
  return name.length <= NAME_MAX_LENGTH && lettersOf(name) === "idempotencykey";
}

function synonymsOf(letters: string): readonly string[] {
  return Object.hasOwn(SYNONYMS, letters) ? (SYNONYMS[letters] ?? []) : [];
}

/** The letters of the known names, which are few. */
const known_letters = new Map<string, string>();

function knownLettersOf(name: string): string {
  const letters = known_letters.get(name) ?? lettersOf(name);
  known_letters.set(name, letters);
  return letters;
}

function lettersOf(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, "");
}

function isSlip(typed: string, name: string): boolean {
  const allowed = Math.min(EDITS_MAX, Math.floor(name.length / LETTERS_PER_EDIT));
  if (Math.abs(typed.length - name.length) > allowed) return false;
  const edits = editsBetween(typed, name);
  return edits <= allowed && (edits < 2 || typed[0] === name[0]);
}

/**
 * The number of letters to insert, remove, replace or swap with the next one (optimal string alignment). Keeps three rows of
 * the table, because thousands of names of one body may be compared.
 */
function editsBetween(one: string, other: string): number {
  const columns = other.length + 1;
  let before: number[] = [];
  let above = Array.from({ length: columns }, (_, column) => column);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column < columns; column += 1) {
      const same = one[row - 1] === other[column - 1];
      let edits = Math.min(above[column]!, current[column - 1]!) + 1;
      edits = Math.min(edits, above[column - 1]! + (same ? 0 : 1));
      const swapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (swapped && row > 1 && column > 1) edits = Math.min(edits, before[column - 2]! + 1);
      current.push(edits);
    }
    [before, above] = [above, current];
  }
  return above[other.length]!;
}
