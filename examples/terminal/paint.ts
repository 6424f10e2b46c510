import { styleText } from "node:util";

/** What a stretch of text is, as far as its looks go. */
export type Style = "bold" | "cyan" | "dim" | "green" | "red" | "yellow";

/** Text in a style, or as it is where there are no colours. */
export type Paint = (style: Style, text: string) => string;

/** Where text goes, and what the environment says of colours. */
export interface Surface {
  readonly isTTY: boolean;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Whether to write colours: `NO_COLOR` forbids them, `FORCE_COLOR` (not "0" or "false") demands
 * them, else a terminal decides that can show them.
 *
 * @see https://no-color.org and https://force-color.org: set means set to anything but nothing.
 */
function hasColours({ isTTY, env }: Surface): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return !["0", "false"].includes(env.FORCE_COLOR);
  return isTTY && env.TERM !== "dumb";
}

/** Paints for a surface. */
export function paintFor(surface: Surface): Paint {
  if (!hasColours(surface)) return (_, text) => text;
  return (style, text) => (text === "" ? text : styleText(style, text, { validateStream: false }));
}

/** Columns of a window that is not known: a pipe or a file. */
const usualWidth = 80;
/** Longer lines are hard to read, however wide the window is. */
const maxWidth = 110;

/**
 * Columns to write in. The last one stays free: some terminals begin a new line when it is written.
 *
 * @param columns as the stream says, or `COLUMNS`; unknown for pipes and files.
 */
export function usableWidth(columns: number | undefined): number {
  if (columns === undefined || !(columns > 0)) return usualWidth;
  return Math.max(20, Math.min(maxWidth, columns - 1));
}
