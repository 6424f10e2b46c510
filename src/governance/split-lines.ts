import { mostLineCharacters } from "../domain/export-line.js";
import { tooLong } from "./read-export.js";

/**
 * The lines of a file, as text, of which no more is held than the longest that is read. Only line feeds end a line, with
 * or without a carriage return: JSON may hold the other breaks as they are.
 *
 * @param input its bytes, UTF-8.
 * @throws MemoryError `INVALID_INPUT` that names a line that is too long.
 */
export async function* splitLines(input: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let parts: string[] = [];
  let characters = 0;
  let number = 1;
  const held = (part: string) => {
    parts.push(part);
    characters += part.length;
    if (characters > mostLineCharacters) throw tooLong(number);
  };
  const line = () => {
    const text = parts.join("");
    parts = [];
    characters = 0;
    number++;
    return text.endsWith("\r") ? text.slice(0, -1) : text;
  };
  for await (const bytes of input) {
    const [first = "", ...others] = decoder.decode(bytes, { stream: true }).split("\n");
    held(first);
    for (const other of others) {
      yield line();
      held(other);
    }
  }
  held(decoder.decode());
  if (characters > 0) yield line();
}
