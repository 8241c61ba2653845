/** Opening the user's browser. */
import { spawn } from "node:child_process";

/** Whether this session has a screen. */
function hasScreen(): boolean {
  const { DISPLAY, WAYLAND_DISPLAY, SSH_CONNECTION } = process.env;
  if (SSH_CONNECTION !== undefined) return false;
  return process.platform !== "linux" || Boolean(DISPLAY) || Boolean(WAYLAND_DISPLAY);
}

/** Opens a web page in the user's browser, if there is one. It uses no shell, and opens http and https URLs only. */
export function openBrowser(address: string): void {
  if (!/^https?:\/\//.test(address) || !hasScreen()) return;
  const [program, ...args] =
    process.platform === "darwin"
      ? ["open", address]
      : process.platform === "win32"
        ? ["rundll32", "url.dll,FileProtocolHandler", address]
        : ["xdg-open", address];
  const child = spawn(program ?? "", args, { stdio: "ignore", detached: true });
  // The terminal shows the URL too, so a failure needs no message.
  child.on("error", () => {});
  child.unref();
}
