/** A program that forgets `close()`. argv: dataDir. Prints "done" after its last call. */
import { createMemory } from "../../../src/create-memory.js";

const memory = createMemory({ database: { dataDir: process.argv[2] ?? "" } });
await memory.setup();
await memory.record({ scope: { userId: "ana" }, threadId: "t", messages: [] });
console.log("done");
