import { Words } from "./texts.js";

/** Lines of a message that belong together: code and tables keep their columns. */
interface Passage {
  readonly isCode: boolean;
  readonly lines: string[];
}

const fence = /^\s*(?:```|~~~)/;
const tableRow = /^\s*\|/;

/** What was said, with code between fences and tables in a fixed font; one that scrolls has keys. */
export function Spoken({
  text,
  most,
  scrolls = false,
}: {
  text: string;
  most: number;
  scrolls?: boolean;
}) {
  return (
    <div class="text" dir="auto" tabIndex={scrolls ? 0 : undefined}>
      {passagesOf(text).map(({ isCode, lines }, place) =>
        isCode ? (
          <pre key={`${place}`} tabIndex={0}>
            {lines.join("\n")}
          </pre>
        ) : (
          <Words key={`${place}`} text={lines.join("\n")} most={most} />
        ),
      )}
    </div>
  );
}

function passagesOf(text: string): readonly Passage[] {
  const passages: Passage[] = [];
  let isFenced = false;
  const add = (isCode: boolean, line: string) => {
    const last = passages.at(-1);
    if (last?.isCode === isCode) last.lines.push(line);
    else passages.push({ isCode, lines: [line] });
  };
  for (const line of text.split("\n")) {
    if (fence.test(line)) {
      // The fence itself is left out.
      isFenced = !isFenced;
      continue;
    }
    add(isFenced || tableRow.test(line), line);
  }
  return passages;
}

const address = /https?:\/\/\S+/g;
const attachment = /\[(image|audio|video|file)[^\]]*\]/g;

/** Marks of Markdown: headings, lists and quotes at the beginning of a line, bold and code in it. */
const marks = /^\s*(?:#{1,6}|[-*+>])\s+|\*\*|`/g;

/** Somebody's first words as a title: one line, without code, marks, addresses and files' names. */
export function titleFrom(text: string): string {
  const words = passagesOf(text)
    .filter(({ isCode }) => !isCode)
    .flatMap(({ lines }) => lines)
    .map((line) => line.replace(/```.*/, "").replace(marks, ""))
    .join(" ")
    .replace(attachment, "[$1]")
    .replace(address, "…")
    .replace(/\s+/g, " ")
    .trim();
  return words === "" ? text.replace(/\s+/g, " ").trim() : words;
}
