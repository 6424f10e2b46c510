import type { Logger } from "../../src/logger.js";

/** A logger that keeps its lines as "level: message". */
export function recordingLogger(): Logger & { readonly lines: string[] } {
  const lines: string[] = [];
  const at = (level: string) => (message: string) => void lines.push(`${level}: ${message}`);
  return { lines, debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
