import type { Logger } from "../../src/logger.js";

const nothing = () => {};

export const silentLogger: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
};
