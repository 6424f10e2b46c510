/** Where log lines go: `console`, pino, winston and their like all fit. */
export interface Logger {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

const silent = () => {};
const toStderr = (message: string) => {
  process.stderr.write(`mnemograph: ${message}\n`);
};

/** Used when no logger is given: problems go to standard error, everything else is dropped. */
export const defaultLogger: Logger = { debug: silent, info: silent, warn: toStderr, error: toStderr };
