/** Whether an unknown name is probably a typing error for a known one. Pure. */

/** One edit per three letters is a typing error. More edits make another word. */
const LETTERS_PER_EDIT = 3;
const EDITS_MAX = 2;

/**
 * The known name that an unknown one nearly matches, or null. Either the letters are the same,
 * ignoring case, `-` and `_`, or few edits turn one into the other: one for a known name of 3 to 5 letters, two
 * for a longer one. Two edits count only if the first letter is the same. Otherwise `caption` and `option`
 * would count as errors for `action`.
 */
export function nearestName(unknown: string, known: readonly string[]): string | null {
  const typed = lettersOf(unknown);
  return (
    known.find((name) => lettersOf(name) === typed) ??
    known.find((name) => isSlip(typed, lettersOf(name))) ??
    null
  );
}

function lettersOf(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, "");
}

function isSlip(typed: string, name: string): boolean {
  const allowed = Math.min(EDITS_MAX, Math.floor(name.length / LETTERS_PER_EDIT));
  // A body may have long names. Most are excluded by their length.
  if (Math.abs(typed.length - name.length) > allowed) return false;
  const edits = editsBetween(typed, name);
  return edits <= allowed && (edits < 2 || typed[0] === name[0]);
}

/** The number of letters to insert, remove, replace or swap with the next one (optimal string alignment). */
function editsBetween(one: string, other: string): number {
  const rows = [Array.from({ length: other.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number) => rows[row]?.[column] ?? Infinity;
  for (let row = 1; row <= one.length; row += 1) {
    rows[row] = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const same = one[row - 1] === other[column - 1];
      const swapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      rows[row]![column] = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (same ? 0 : 1),
        swapped ? at(row - 2, column - 2) + 1 : Infinity,
      );
    }
  }
  return at(one.length, other.length);
}
