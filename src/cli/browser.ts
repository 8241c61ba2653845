/** Opening the user's browser. */
import { spawn } from "node:child_process";

/** Whether there is a screen to open one on. */
function hasScreen(): boolean {
  const { DISPLAY, WAYLAND_DISPLAY, SSH_CONNECTION } = process.env;
  if (SSH_CONNECTION !== undefined) return false;
  return process.platform !== "linux" || Boolean(DISPLAY) || Boolean(WAYLAND_DISPLAY);
}

/** Opens an address, if there is a browser to do it; never through a shell, never anything but the web. */
export function openBrowser(address: string): void {
  if (!/^https?:\/\//.test(address) || !hasScreen()) return;
  const [program, ...args] =
    process.platform === "darwin"
      ? ["open", address]
      : process.platform === "win32"
        ? ["rundll32", "url.dll,FileProtocolHandler", address]
        : ["xdg-open", address];
  const child = spawn(program ?? "", args, { stdio: "ignore", detached: true });
  // The address is on the screen: nobody needs to know that this failed.
  child.on("error", () => {});
  child.unref();
}
