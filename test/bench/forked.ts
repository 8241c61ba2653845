/** Programs of this folder in processes of their own. */
import { fork, type ChildProcess } from "node:child_process";

/** Starts a program and waits until it is ready. */
export function forked(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<ChildProcess> {
  const child = fork(new URL(file, import.meta.url), args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  return new Promise((resolve, reject) => {
    child.once("message", () => resolve(child));
    child.once("error", reject);
    child.once("exit", () => reject(new Error(`${file} ended before it was ready`)));
  });
}

/** Stops a program, which may first finish its work. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await ended;
}
