import type { DocPage } from "./doc-pages.js";

export interface ShellLine {
  /** Page and line. */
  readonly at: string;
  readonly page: string;
  /** Without its comment; its continuations are joined to it. */
  readonly command: string;
}

/** The commands in a page's blocks of shell that begin with npx, npm or curl, in their order. */
export function shellLines(pages: readonly DocPage[]): ShellLine[] {
  return pages.flatMap(({ path, text }) =>
    [...text.matchAll(/^```(?:sh|bash|shell|console)\n([\s\S]*?)^```$/gm)].flatMap((block) => {
      const firstLine = text.slice(0, block.index).split("\n").length + 1;
      return commandsOf(block[1] ?? "").map(({ command, line }) => ({
        at: `${path}:${firstLine + line}`,
        page: path,
        command,
      }));
    }),
  );
}

function commandsOf(block: string): { command: string; line: number }[] {
  const commands: { command: string; line: number }[] = [];
  const lines = block.split("\n");
  for (let line = 0; line < lines.length; line++) {
    const first = line;
    let command = lines[line] ?? "";
    while (command.endsWith("\\")) command = `${command.slice(0, -1)}${lines[++line]?.trim()}`;
    command = command.replace(/\s+#\s.*$/, "").trim();
    if (/^(npx|npm|curl)\b/.test(command)) commands.push({ command, line: first });
  }
  return commands;
}
