/** Waits for a store no longer than the caller can. */

/** @throws Error "timed out" if `work` takes longer. */
export async function withinMs<Value>(limit_ms: number, work: Promise<Value>): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | null = null;
  const too_late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("timed out")), limit_ms);
  });
  try {
    return await Promise.race([work, too_late]);
  } finally {
    clearTimeout(timer);
  }
}
