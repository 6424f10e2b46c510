import { userInfo } from "node:os";
import { type CliCommand, type MemoryFlags, wholeNumber, withMemory, withScope } from "./flags.js";
import { peers, serveUntilStopped } from "./listen.js";
import { useMemory } from "./use-memory.js";

interface InspectFlags extends MemoryFlags {
  readonly port?: number;
  readonly operator?: string;
}

/** `mnemograph inspect`: the inspector's page for a person at this machine, until a signal ends it. */
export const inspectCommand: CliCommand = {
  name: "inspect",
  description: "show what is remembered, and why, in a browser on this machine; change it there",
  examples: [
    ["inspect", "prints an address that is good for one visit"],
    ["inspect --user ana --operator joe", "begins with ana; what joe changes stands under that name"],
  ],
  flags: (command) =>
    withMemory(withScope(command, "begin with this user"))
      .option("--port <number>", "the port (default: any that is free)", wholeNumber(65_535))
      .option(
        "--operator <name>",
        "who looks and changes, for the audit trail (default: the name of your login)",
      ),
  run: inspect,
};

/** @throws MemoryError `SETUP_REQUIRED` when there is no database, `PEER_MISSING` */
async function inspect(flags: InspectFlags): Promise<void> {
  const { tenant, user, app, port = 0, operator = userInfo().username } = flags;
  const { createMemoryApp } = await peers("hono", () => import("../http/memory-app.js"));
  const { isLocal } = await import("../http/authenticate.js");
  const { createInspectorSession } = await import("../http/inspector/inspector-session.js");
  await useMemory(flags, async (memory) => {
    const ending = new AbortController();
    const session = createInspectorSession(operator);
    const { authenticate } = session;
    const api = createMemoryApp(memory, { signal: ending.signal, authenticate, inspector: true });
    const serve = session.before((request, env) => api.fetch(request, env as object));
    const fetch = (request: Request, env: unknown) =>
      // A page whose name was turned to 127.0.0.1, another machine and a proxy are no part of this.
      isLocal(request, env)
        ? serve(request, env)
        : new Response("This is for a browser on this machine.\n", { status: 403 });
    const named = Object.entries({ tenant, user, app }).filter(
      (each): each is [string, string] => each[1] !== undefined,
    );
    await serveUntilStopped({
      ...{ fetch, host: "127.0.0.1", port, ending },
      listening(origin) {
        const fragment = new URLSearchParams([["token", session.token], ...named]);
        process.stderr.write(
          "Open this in a browser on this machine. It is good for one visit; Ctrl+C ends it.\n",
        );
        process.stdout.write(`${origin}/inspector/#${fragment}\n`);
      },
    });
  });
}
