import { MemoryError } from "./errors.js";

const { node } = process.versions;
const [major = 0, minor = 0] = node.split(".").map(Number);

// As "engines" in package.json says.
if (major < 20 || (major === 20 && minor < 19)) {
  const needed = `Mnemograph needs Node 20.19 or later, but this is Node ${node}`;
  const how = "run `nvm install 24`, or see https://nodejs.org.";
  const error = new MemoryError("PEER_MISSING", `${needed}: ${how}`);
  // Thrown while a program loads, it is printed; where it was thrown helps nobody.
  error.stack = `${error.name}: ${error.message}`;
  throw error;
}
