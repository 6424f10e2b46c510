import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A TCP proxy that can stop forwarding, as a network that swallows packets does. */
export interface SilentProxy {
  /** `url` through the proxy. */
  readonly url: string;
  /** Whether it swallows everything, both ways, on connections there are and on new ones, which it still accepts. */
  silent: boolean;
  /** Ends the connections there are. */
  cut(): void;
  close(): void;
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
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const through = new URL(url);
  through.hostname = "127.0.0.1";
  through.port = String((server.address() as AddressInfo).port);
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
  };
  return proxy;
}
