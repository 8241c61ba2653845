/**
 * Writes the folder of static files that is deployed with the Worker. Wrangler runs this before it serves or deploys
 * (`[build]` in wrangler.toml).
 */
import { prepareAssets } from "./static_assets.ts";

await prepareAssets();
