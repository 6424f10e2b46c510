import type { Logger } from "../../src/logger.js";

const nothing = () => {};

/** For tests that provoke failures on purpose. */
export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
