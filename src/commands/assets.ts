/**
 * Makes the folder of static files that is deployed beside the Worker: the OpenAPI document and its
 * viewer. Wrangler runs it before it serves or deploys (`[build]` in wrangler.toml).
 */
import { prepareAssets } from "./static_assets.ts";

await prepareAssets();
