import { type AddressInfo, createServer } from "node:net";

interface Listening {
  listen(port: number, host: string, done: () => void): unknown;
  address(): AddressInfo | string | null;
}

/** Starts `server` on a free port of 127.0.0.1. Returns the port. */
export async function listen(server: Listening): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** A port of 127.0.0.1 that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
