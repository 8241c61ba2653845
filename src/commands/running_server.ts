/** What runs already: on a port, and on a folder of local state. */
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";

/** Whether something on this machine listens at a port. */
export async function isPortTaken(port: number): Promise<boolean> {
  const answers = await Promise.all(["127.0.0.1", "::1"].map((host) => accepts(host, port)));
  return answers.includes(true);
}

function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const done = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("connect", () => done(true));
    socket.once("error", () => done(false));
  });
}

/** A development server that has a folder of state in use. */
export interface RunningServer {
  readonly pid: number;
  readonly port: number;
}

const NOTE = "passbook-dev.json";

/** The server that uses a folder of state now; null where none does, or the one that did is gone. */
export async function serverOf(state_folder: string): Promise<RunningServer | null> {
  const note = await readFile(join(state_folder, NOTE), "utf8").catch(() => null);
  if (note === null) return null;
  const server = JSON.parse(note) as RunningServer;
  // Another program may have the number by now, so the port has to answer too.
  return isAlive(server.pid) && (await isPortTaken(server.port)) ? server : null;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Notes that this process uses a folder of state. */
export async function noteServer(state_folder: string, port: number): Promise<void> {
  await mkdir(state_folder, { recursive: true });
  await writeFile(join(state_folder, NOTE), JSON.stringify({ pid: process.pid, port }));
}

/** Takes the note away again. */
export async function forgetServer(state_folder: string): Promise<void> {
  await rm(join(state_folder, NOTE), { force: true });
}
