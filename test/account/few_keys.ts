/** Bounds of keys in lines so small that a short history meets all of them. */
import { LINE_KEYS } from "../../src/domain/limits.ts";

/** Sets them for every object. @returns what sets them back. */
export function keepFewKeys(bounds: Record<keyof typeof LINE_KEYS, number>): () => void {
  const usual = { ...LINE_KEYS };
  Object.assign(LINE_KEYS, bounds);
  return () => void Object.assign(LINE_KEYS, usual);
}
