/** Reaching a login's object. The name is the user code, which makes a live code unique everywhere. */
import type { DeviceLogin } from "./object.ts";

/** Gives the login of a user code; calling one of its methods is one hop. */
export type DeviceLogins = (user_code: string) => DurableObjectStub<DeviceLogin>;

/** The logins behind a Durable Object binding. */
export function createDeviceLogins(binding: DurableObjectNamespace<DeviceLogin>): DeviceLogins {
  return (user_code) => binding.getByName(user_code);
}
