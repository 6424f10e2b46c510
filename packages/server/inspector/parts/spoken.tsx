import { Words } from "./texts.js";

/** Lines of a message that belong together: code and tables keep their columns, a file has its own. */
interface Passage {
  readonly kind: "words" | "code" | "file";
  readonly lines: string[];
}

const fence = /^\s*(?:```|~~~)/;
const tableRow = /^\s*\|/;
const file = /^\[(image|audio|video|file): .*\]$/;

/** What was said: code and tables in a fixed font, a file as a line with a frame. */
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
      {passagesOf(text).map(({ kind, lines }) => {
        const said = lines.join("\n");
        return kind === "words" ? (
          <Words text={said} most={most} />
        ) : (
          <pre class={kind} tabIndex={0}>
            {kind === "file" ? said.slice(1, -1) : said}
          </pre>
        );
      })}
    </div>
  );
}

function passagesOf(text: string): readonly Passage[] {
  const passages: Passage[] = [];
  let isFenced = false;
  const add = (kind: Passage["kind"], line: string) => {
    const last = passages.at(-1);
    if (last?.kind === kind && kind !== "file") last.lines.push(line);
    else passages.push({ kind, lines: [line] });
  };
  for (const line of text.split("\n")) {
    if (fence.test(line)) {
      // The fence itself is left out.
      isFenced = !isFenced;
      continue;
    }
    if (isFenced || tableRow.test(line)) add("code", line);
    else if (file.test(line)) add("file", line);
    else add("words", line);
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
    .filter(({ kind }) => kind !== "code")
    .flatMap(({ lines }) => lines)
    .map((line) => line.replace(/```.*/, "").replace(marks, ""))
    .join(" ")
    .replace(attachment, "[$1]")
    .replace(address, "…")
    .replace(/\s+/g, " ")
    .trim();
  return words === "" ? text.replace(/\s+/g, " ").trim() : words;
}
