import { MemoryError } from "../errors.js";

/**
 * An optional package, loaded when it is needed.
 *
 * Loaded with `import`, never `require`: these packages ship a CommonJS copy too, and it brings a second
 * LangGraph with classes of its own, which the graphs made here would not recognise.
 *
 * @throws MemoryError `PEER_MISSING` when it cannot be loaded, naming the command that installs it.
 */
export async function loadSupervisorPeer<Module>(
  packageName: string,
  load: () => Promise<Module>,
): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new MemoryError(
      "PEER_MISSING",
      `createMemorySupervisor needs ${packageName}, which cannot be loaded: run \`npm install ${packageName}\`. (${detail})`,
      { cause },
    );
  }
}
