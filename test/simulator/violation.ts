/** A rule that the simulated service broke. */
export class Violation extends Error {
  override readonly name = "Violation";
}

/** @throws Violation with the rule, and what is known about it. */
export function must(condition: boolean, rule: string, details: unknown = null): asserts condition {
  if (condition) return;
  throw new Violation(details === null ? rule : `${rule}\n  ${JSON.stringify(details)}`);
}
