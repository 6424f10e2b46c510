/**
 * Creates a memory where the embedded database is not installed. Prints the error's code, then its
 * message.
 */
import Module from "node:module";
import { createMemory } from "../../../src/create-memory.js";
import { MemoryError } from "../../../src/errors.js";

type Resolve = (request: string, ...rest: unknown[]) => string;
const loader = Module as unknown as { _resolveFilename: Resolve };
const resolve = loader._resolveFilename;
loader._resolveFilename = (request, ...rest) => {
  if (request.startsWith("@electric-sql/")) throw new Error(`Cannot find module '${request}'`);
  return resolve.call(Module, request, ...rest);
};

try {
  createMemory();
} catch (error) {
  if (!MemoryError.is(error)) throw error;
  console.log(error.code);
  console.log(error.message);
}
// A server needs none.
await createMemory({ database: "postgresql://ana@127.0.0.1/db" }).close();
