/** Lines of words, as wide as a window. */
export interface Flow {
  /** More text, in pieces of any size: a word is written when it is whole. */
  add(text: string): void;
  /** Writes what is left and ends the line, if one was begun. */
  end(): void;
}

/**
 * Writes text so that no line is wider than `width()` and no word is broken. What a terminal would
 * obey (escape sequences, control characters) is left out, since models and tools write the text.
 *
 * Further lines of an item ("- …", "2. …") or of an indented line begin where its words began. A
 * word wider than the window stays whole on a line of its own, so that addresses can be copied;
 * scripts without spaces are cut between letters.
 */
export function createFlow(write: (text: string) => void, width: () => number): Flow {
  let column = 0;
  let hang = 0;
  let spaces = "";
  let word = "";

  const newLine = () => {
    write("\n");
    column = 0;
  };
  const put = (piece: string) => {
    const columns = columnsOf(piece);
    const begins = column === 0;
    if (!begins && column + spaces.length + columns > width()) {
      newLine();
      spaces = " ".repeat(hang);
    }
    write(spaces + piece);
    column += spaces.length + columns;
    if (begins) hang = /^(?:[-*•·]|\d{1,3}[.)])$/.test(piece) ? column + 1 : spaces.length;
    // A hanging indent that leaves no room for words would be worse than none.
    if (hang > width() / 2) hang = 0;
    spaces = "";
  };
  const endWord = () => {
    if (word === "") return;
    for (const piece of piecesOf(word)) put(piece);
    word = "";
  };

  return {
    add(text) {
      for (const letter of plain(text)) {
        if (letter === "\n") {
          endWord();
          spaces = "";
          hang = 0;
          newLine();
        } else if (letter === " ") {
          endWord();
          spaces += letter;
        } else {
          word += letter;
        }
      }
    },
    end() {
      endWord();
      spaces = "";
      if (column > 0) newLine();
    },
  };
}

/** `text` in lines of at most `width` columns. */
export function wrapped(text: string, width: number): string[] {
  let lines = "";
  const flow = createFlow(
    (piece) => {
      lines += piece;
    },
    () => width,
  );
  flow.add(text);
  flow.end();
  return lines.replace(/\n$/, "").split("\n");
}

/** `text` without what a terminal would obey; tabs become spaces. */
export function plain(text: string): string {
  return (
    text
      .replaceAll("\t", "  ")
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
      .replace(/\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|.)?/g, "")
      // Bidirectional controls could show text in another order than it is in.
      .replace(/(?!\n)\p{Cc}|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, "")
  );
}

const letters = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** Letters of scripts that are two columns wide, and emoji. */
const wide =
  /^(?:\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\u3000-\u303f\uff01-\uff60]|\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f)/u;

/** Columns that `text` takes in a terminal. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const { segment } of letters.segment(text)) columns += widthOf(segment);
  return columns;
}

function widthOf(letter: string): number {
  if (/^[\p{M}\p{Cf}]+$/u.test(letter)) return 0;
  return wide.test(letter) ? 2 : 1;
}

/** A word in pieces that may stand on different lines: one for each wide letter, all else whole. */
function piecesOf(word: string): string[] {
  if (!/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(word)) return [word];
  return [...letters.segment(word)].map(({ segment }) => segment);
}
