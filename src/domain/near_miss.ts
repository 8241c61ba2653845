/** Whether a name is probably a slip for another one. Pure. */

/** Letters that one edit may stand for: one edit in three letters is a slip, more is another word. */
const LETTERS_PER_EDIT = 3;
const EDITS_MAX = 2;

/**
 * The known name that an unknown one nearly matches; null where there is none. Either the letters are the
 * same, ignoring case, `-` and `_`, or few edits lead from one to the other: one for a known name of 3 to 5
 * letters, two for a longer one. Two edits count only where the first letter is the same, as it is in most
 * slips: otherwise `caption` and `option` were slips for `action`.
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
  // A body may hold long names: most are told apart by their length.
  if (Math.abs(typed.length - name.length) > allowed) return false;
  const edits = editsBetween(typed, name);
  return edits <= allowed && (edits < 2 || typed[0] === name[0]);
}

/** How many letters to insert, remove, replace or swap with the next (optimal string alignment). */
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
