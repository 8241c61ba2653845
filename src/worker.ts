/** The entry: the fetch handler and the Durable Object classes. */
import { createApp } from "./app.ts";

export { Account } from "./account/object.ts";
export { StarterBudget } from "./budget/object.ts";
export { DeviceLogin } from "./device/object.ts";

export default createApp();
