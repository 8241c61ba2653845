/** What failed, for the log: its kind, never its message, which may quote what was being written. */
export function errorName(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
