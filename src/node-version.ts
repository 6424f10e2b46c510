import satisfies from "semver/functions/satisfies.js";
import { MemoryError } from "./errors.js";

const { node } = process.versions;

// As "engines" in package.json says.
if (!satisfies(node, ">=20.19", { includePrerelease: true })) {
  const needed = `Mnemograph needs Node 20.19 or later, but this is Node ${node}`;
  const how = "run `nvm install 24`, or see https://nodejs.org.";
  const error = new MemoryError("PEER_MISSING", `${needed}: ${how}`);
  // Thrown while a program loads, it is printed; where it was thrown helps nobody.
  error.stack = `${error.name}: ${error.message}`;
  throw error;
}
