import { MemoryError } from "../errors.js";

/**
 * `name`, if every provider accepts it as a tool's name.
 *
 * @throws MemoryError `INVALID_INPUT`
 */
export function requireToolName(name: string): string {
  if (/^[a-zA-Z0-9_-]{1,64}$/.test(name)) return name;
  throw new MemoryError(
    "INVALID_INPUT",
    `"${name}" cannot be a tool's name: providers accept 1 to 64 of a–z, A–Z, 0–9, _ and -.`,
  );
}
