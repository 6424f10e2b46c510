import { clearLine, createInterface, cursorTo, type Interface } from "node:readline";
import { styleText } from "node:util";

/** Lines in and out: a person at a terminal, or files and pipes. */
export interface Terminal {
  /** What the user says, line by line, until the input ends or the terminal is closed. */
  lines(): AsyncIterable<string>;
  /** A line of its own. */
  print(line: string): void;
  /** A piece of a line that is still growing. */
  stream(text: string): void;
  /** Ends a growing line. */
  endLine(): void;
  /** A dim line about what happens in the background; it waits for a growing line to end. */
  note(line: string): void;
  /** Ends the input. */
  close(): void;
}

/** The terminal of this process. `interrupt` is called for each Ctrl-C. */
export function openTerminal(interrupt: () => void): Terminal {
  const { stdin, stdout } = process;
  const interactive = Boolean(stdin.isTTY && stdout.isTTY);
  const dim = (text: string) => (stdout.isTTY && !process.env.NO_COLOR ? styleText("dim", text) : text);
  process.on("SIGINT", interrupt);

  let input: Interface | undefined;
  let closed = false;
  const held: string[] = [];
  let growing = false;
  let asking = false;

  const print = (line: string) => {
    if (asking) {
      clearLine(stdout, 0);
      cursorTo(stdout, 0);
    }
    stdout.write(`${line}\n`);
    if (asking) input?.prompt(true);
  };
  const endLine = () => {
    if (growing) stdout.write("\n");
    growing = false;
    for (const line of held.splice(0)) print(dim(line));
  };

  return {
    async *lines() {
      if (closed) return;
      // Not opened before someone listens: what a pipe holds would be read and lost.
      const lines = createInterface({ input: stdin, ...(interactive && { output: stdout, prompt: "> " }) });
      input = lines;
      lines.on("SIGINT", interrupt);
      const ask = () => {
        asking = interactive;
        if (interactive) lines.prompt();
      };
      ask();
      for await (const line of lines) {
        asking = false;
        if (!interactive) print(`> ${line}`);
        yield line;
        if (closed) return;
        ask();
      }
      asking = false;
    },
    print(line) {
      endLine();
      print(line);
    },
    stream(text) {
      if (text === "") return;
      growing = true;
      stdout.write(text);
    },
    endLine,
    note(line) {
      if (growing) held.push(line);
      else print(dim(line));
    },
    close() {
      closed = true;
      input?.close();
    },
  };
}
