import { resolve } from "node:path";
import { inject } from "vitest";

/** Node options for programs that run seconds: optimising PostgreSQL's WebAssembly takes longer. */
export const briefly = ["--liftoff-only"];

/**
 * The JavaScript of a file in src, examples or test/support, to start as a program.
 *
 * @param path from the repository's root, without ".ts".
 */
export const compiled = (path: string): string => resolve(inject("compiled"), `${path}.js`);
