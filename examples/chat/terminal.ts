import { clearLine, createInterface, cursorTo, type Interface } from "node:readline";
import { paintFor, type Style, usableWidth } from "../terminal/paint.js";
import { createFlow, wrapped } from "../terminal/wrap.js";

/** Lines in and out: a person at a terminal, or files and pipes. */
export interface Terminal {
  /** What the user says next; null when the input has ended or the terminal is closed. */
  read(prompt?: string): Promise<string | null>;
  /** Text of its own lines, wrapped to the window. */
  print(text: string, style?: Style): void;
  /** A piece of text that is still growing, wrapped likewise. */
  stream(text: string): void;
  /** Ends the growing text. */
  endLine(): void;
  /**
   * A dim line about what happens in the background; while a line of the user is dealt with, it
   * waits.
   */
  note(line: string): void;
  /** Ends the input. */
  close(): void;
}

/** The terminal of this process. `interrupt` is called for each Ctrl-C. */
export function openTerminal(interrupt: () => void): Terminal {
  const { stdin, stdout, env } = process;
  const interactive = Boolean(stdin.isTTY && stdout.isTTY);
  const paint = paintFor({ isTTY: stdout.isTTY, env });
  const width = () => usableWidth(stdout.columns ?? Number(env.COLUMNS));
  process.on("SIGINT", interrupt);
  // Whoever read it has gone, as `head` does.
  stdout.on("error", () => process.exit(1));

  let input:
    | { readonly lines: Interface; readonly next: () => Promise<IteratorResult<string>> }
    | undefined;
  let closed = false;
  const waiting: string[] = [];
  let busy = false;
  let asking = false;
  const flow = createFlow((piece) => stdout.write(piece), width);

  const print: Terminal["print"] = (text, style) => {
    if (asking) {
      clearLine(stdout, 0);
      cursorTo(stdout, 0);
    }
    for (const line of wrapped(text, width()))
      stdout.write(`${style ? paint(style, line) : line}\n`);
    if (asking) input?.lines.prompt(true);
  };
  const tellHeld = () => {
    flow.end();
    busy = false;
    for (const line of waiting.splice(0)) print(line, "dim");
  };
  // Not opened before someone reads: what a pipe holds would be lost.
  const opened = () => {
    if (input) return input;
    const lines = createInterface({ input: stdin, ...(interactive && { output: stdout }) });
    lines.on("SIGINT", interrupt);
    const iterator = lines[Symbol.asyncIterator]();
    input = { lines, next: () => iterator.next() };
    return input;
  };

  return {
    async read(prompt = "> ") {
      tellHeld();
      if (closed) return null;
      const { lines, next } = opened();
      asking = interactive;
      if (interactive) {
        lines.setPrompt(paint("cyan", prompt));
        lines.prompt();
      }
      const { value, done } = await next();
      asking = false;
      if (closed || done) {
        // The line of a prompt that nobody answered.
        if (interactive) stdout.write("\n");
        return null;
      }
      busy = true;
      if (!interactive) print(`${prompt}${value}`);
      return value;
    },
    print(text, style) {
      flow.end();
      print(text, style);
    },
    stream: flow.add,
    endLine: flow.end,
    note(line) {
      if (busy) waiting.push(line);
      else print(line, "dim");
    },
    close() {
      tellHeld();
      closed = true;
      input?.lines.close();
    },
  };
}
