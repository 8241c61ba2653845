/** Stubs of login objects. An object's name is its user code, which makes a live code unique everywhere. */
import type { DeviceLogin } from "./object.ts";

/** The login of a user code. Each call of one of its methods is one hop. */
export type DeviceLogins = (user_code: string) => DurableObjectStub<DeviceLogin>;

export function createDeviceLogins(binding: DurableObjectNamespace<DeviceLogin>): DeviceLogins {
  return (user_code) => binding.getByName(user_code);
}
