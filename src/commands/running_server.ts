/** Detects a development server that already uses a port or a folder of local state. */
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";

/** Whether a program on this machine listens on the port. */
export async function isPortTaken(port: number): Promise<boolean> {
  const accepted = await Promise.all(["127.0.0.1", "::1"].map((host) => accepts(host, port)));
  return accepted.includes(true);
}

function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const done = (accepted: boolean) => {
      socket.destroy();
      resolve(accepted);
    };
    socket.once("connect", () => done(true));
    socket.once("error", () => done(false));
  });
}

/** A development server that uses a folder of state. */
interface RunningServer {
  readonly pid: number;
  readonly port: number;
}

const RECORD_FILE = "passbook-dev.json";

/** The server that uses a folder of state; null without a running one. */
export async function serverOf(state_folder: string): Promise<RunningServer | null> {
  const record = await readFile(join(state_folder, RECORD_FILE), "utf8").catch(() => null);
  if (record === null) return null;
  const server = JSON.parse(record) as RunningServer;
  // Another process may have the same id by now, so the port must accept connections too.
  return isAlive(server.pid) && (await isPortTaken(server.port)) ? server : null;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Records that this process uses a folder of state. */
export async function recordServer(state_folder: string, port: number): Promise<void> {
  await mkdir(state_folder, { recursive: true });
  await writeFile(join(state_folder, RECORD_FILE), JSON.stringify({ pid: process.pid, port }));
}

/** Removes that record. */
export async function removeServerRecord(state_folder: string): Promise<void> {
  await rm(join(state_folder, RECORD_FILE), { force: true });
}
