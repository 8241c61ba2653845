/** Evicting an object from memory, as the platform may at any time. */
import { evictDurableObject } from "cloudflare:test";

/** Evicts the object; one that is not running is evicted already. */
export async function evict(stub: DurableObjectStub): Promise<void> {
  try {
    await evictDurableObject(stub);
  } catch (error) {
    if (!String(error).includes("not currently running")) throw error;
  }
}
