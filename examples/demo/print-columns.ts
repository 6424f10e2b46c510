const width = 100;

/** A line in three columns, the third one wrapped. */
export function printColumns(first: string, second: string, text: string): void {
  const start = `${first.padEnd(9)} ${second.padEnd(9)} `;
  console.log(start + wrapped(text).join(`\n${" ".repeat(start.length)}`));
}

/** `text` in lines of at most `width` characters; words longer than that stay whole. */
function wrapped(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
