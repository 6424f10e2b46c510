import { connect, createServer, type Socket } from "node:net";
import { listen } from "./free-port.js";

/** A TCP proxy that can stop forwarding, as a network that swallows packets does. */
export interface SilentProxy {
  readonly url: string;
  /** Whether it drops all data, on open connections and on new ones. */
  silent: boolean;
  cut(): void;
  close(): void;
  /** Listens again after `close`. */
  open(): Promise<void>;
}

/** A proxy to the server of the connection string `url`. */
export async function silentProxy(url: string): Promise<SilentProxy> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(port || 5432), hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        near.destroy();
        far.destroy();
        sockets.delete(socket);
      });
    }
    near.on("data", (data) => proxy.silent || far.write(data));
    far.on("data", (data) => proxy.silent || near.write(data));
  });
  const through = new URL(url);
  const nearPort = await listen(server);
  through.host = `127.0.0.1:${nearPort}`;
  const proxy: SilentProxy = {
    url: through.href,
    silent: false,
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    close() {
      proxy.cut();
      server.close();
    },
    open: () => new Promise((resolve) => server.listen(nearPort, "127.0.0.1", resolve)),
  };
  return proxy;
}
