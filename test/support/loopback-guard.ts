import { Socket } from "node:net";

/** Connections to 0.0.0.0 and :: reach the same machine. */
const loopback = ["localhost", "127.0.0.1", "::1", "0.0.0.0", "::"];

/** `net.connect` hands its arguments on as one array, the options in front. */
function hostOf([first, second]: unknown[]): string {
  const options = Array.isArray(first) ? first[0] : first;
  if (typeof options !== "object") return typeof second === "string" ? second : "localhost";
  return options?.path ? "localhost" : (options?.host ?? "localhost");
}

/**
 * Refuses connections of this process to other machines. Programs that it starts are free to.
 *
 * @param allowed hosts beside loopback
 */
export function guardLoopback(allowed: readonly string[] = []) {
  const reached = new Set<string>();
  const { connect } = Socket.prototype;
  Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
    const host = hostOf(args);
    if ([...loopback, ...allowed].includes(host)) return Reflect.apply(connect, this, args);
    reached.add(host);
    const error = new Error(`Tests may not connect to ${host}.`);
    // Later, since the caller has not yet begun to listen for errors.
    process.nextTick(() => this.destroy(error));
    return this;
  } as typeof connect;
  return {
    /** @throws Error if there was a connection to another machine since the last check. */
    check() {
      const hosts = [...reached].join(", ");
      reached.clear();
      if (hosts) throw new Error(`The test reached for ${hosts}; tests may use loopback alone.`);
    },
    end() {
      Socket.prototype.connect = connect;
    },
  };
}
