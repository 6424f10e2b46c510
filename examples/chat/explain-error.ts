import { MemoryError } from "mnemograph";

/** What went wrong, in one line for the person at the terminal. */
export function explainError(error: unknown): string {
  if (MemoryError.is(error)) return error.message;
  const { status, code, cause, message } = Object(error) as Record<string, unknown>;
  const text = typeof message === "string" ? (message.split("\n")[0] ?? "") : "";
  if (status === 401 || status === 403) {
    return `The endpoint refused the key (${text}). Check OPENAI_API_KEY and OPENAI_BASE_URL.`;
  }
  if (typeof status === "number") return `The endpoint answered with an error: ${text}`;
  if (text === "Connection error.") {
    const detail =
      (cause as { cause?: { code?: string } } | undefined)?.cause?.code ?? "no connection";
    return `The endpoint does not answer (${detail}). Check OPENAI_BASE_URL.`;
  }
  // Node gathers the failures of IPv4 and IPv6 attempts in an error without a message.
  if (typeof code === "string" && /^E[A-Z]+$/.test(code))
    return `The database does not answer (${text || code}).`;
  return text || String(error);
}
