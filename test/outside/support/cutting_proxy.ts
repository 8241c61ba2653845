/** A proxy in front of a Worker, whose connections a test cuts. */
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export interface CuttingProxy {
  readonly url: string;
  /** Closes every open connection. */
  cut(): void;
  stop(): void;
}

/** Opens a proxy in front of the Worker on `target_port`. */
export async function openCuttingProxy(target_port: number): Promise<CuttingProxy> {
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const worker = connect(target_port, "localhost");
    const close = (): void => {
      client.destroy();
      worker.destroy();
    };
    for (const socket of [client, worker]) {
      open.add(socket);
      socket.on("error", close);
      socket.once("close", () => {
        open.delete(socket);
        close();
      });
    }
    client.pipe(worker).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  const { port } = server.address() as AddressInfo;
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  return {
    url: `http://localhost:${port}`,
    cut,
    stop() {
      cut();
      server.close();
    },
  };
}
