export const pause = (time_ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, time_ms));
