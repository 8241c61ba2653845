/** A proxy in front of a Worker, whose connections a test breaks. */
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/**
 * What happens to one connection.
 * - `request_lost`: it is closed before the request reaches the Worker.
 * - `response_lost`: the Worker carries the request out, and the connection is closed instead of its response.
 */
export type ConnectionFault = "none" | "request_lost" | "response_lost";

export interface FaultyProxy {
  readonly url: string;
  readonly port: number;
  /** The next connections have these faults in turn. Later ones have none. */
  breakNext(faults: readonly ConnectionFault[]): void;
  /** Closes every open connection. */
  cut(): void;
  stop(): void;
}

/** Opens a proxy on `port` in front of the Worker on `target_port`. */
export async function openFaultyProxy(port: number, target_port: number): Promise<FaultyProxy> {
  const open = new Set<Socket>();
  let faults: ConnectionFault[] = [];
  const server = createServer((client) => {
    const fault = faults.shift() ?? "none";
    const worker = connect(target_port, "localhost");
    const close = (): void => {
      client.destroy();
      worker.destroy();
    };
    for (const socket of [client, worker]) {
      open.add(socket);
      socket.once("close", () => {
        open.delete(socket);
        close();
      });
      socket.on("error", close);
    }
    if (fault === "request_lost") client.once("data", close);
    else client.pipe(worker);
    if (fault === "response_lost") worker.once("data", close);
    else worker.pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(port, "localhost", resolve));
  const { port: listening } = server.address() as AddressInfo;
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  return {
    url: `http://localhost:${listening}`,
    port: listening,
    breakNext: (next) => void (faults = [...next]),
    cut,
    stop() {
      cut();
      server.close();
    },
  };
}
