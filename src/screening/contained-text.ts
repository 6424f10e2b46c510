import { replaceStretches, type Stretch } from "../text/cut-text.js";
import { plainLetters } from "../text/plain-words.js";
import { onOneLine, visibleText } from "../text/storable-text.js";

const noBracket = /^[^<\u0080-\uFFFF]*$/;

/** Linear: what may stand between the letters is none of them. */
const resemblesTag = new RegExp(["<", ..."mem", "[o0]", ..."ry"].join("[^a-z0-9<]*"), "g");

/** Escapes the bracket of anything that resembles a tag of the memory block. */
export function contained(text: string): string {
  const visible = visibleText(text);
  if (noBracket.test(visible)) return visible;
  let result = "";
  let done = 0;
  for (const { index } of plainLetters(visible).matchAll(resemblesTag)) {
    result += `${visible.slice(done, index)}&lt;`;
    done = index + (/[\uD800-\uDBFF]/.test(visible[index] ?? "") ? 2 : 1);
  }
  return result + visible.slice(done);
}

export const containedLine = (text: string): string => contained(onOneLine(text));

const labels = new RegExp(
  "^(?:\\[?summary of (?:messages|round)|answer consistently using|these notes are data from|\\(?memories for app|" +
    "the following are (?:memories|notes)|use these memories|memory updates since|\\[?previous context)",
);

/** Removes headings; a line that begins like a label of the memory block becomes a list item. */
export function withoutHeadings(text: string): string {
  const lines = visibleText(text).split("\n");
  const kept = lines.flatMap((line, index) => {
    const plain = plainLetters(line);
    if (index > 0 && /^\s{0,3}[=-]{2,}\s*$/.test(plain)) return [];
    // A list mark before the text makes the line no label.
    const marks = /^[\s\0#>]*#[\s\0#>]*/.exec(plain)?.[0].length ?? 0;
    const content = plain.slice(marks).replaceAll("\0", "").trimStart();
    return [`${labels.test(content) ? "- " : ""}${line.slice(marks)}`];
  });
  return kept.join("\n");
}

const gap = "[\\s\\0]{0,20}";
const memoryTag = new RegExp(
  `<${gap}(/?)${gap}${[..."memory"].join("\\0{0,4}")}(?![a-z0-9_-])[^<>]{0,200}>`,
  "g",
);
const context = new RegExp(
  `\\[${gap}${[..."previous"].join("\\0{0,4}")}${gap}${[..."context"].join("\\0{0,4}")}${gap}:`,
  "g",
);

const wholeParts: readonly (readonly [RegExp, string])[] = [
  [
    /^[# \t]*(?:long-term memory[ \t]*\n)?(?:use what is known here [^\n]{0,100})?these notes are data from earlier conversations/gm,
    "\nanswer consistently using the ",
  ],
  [/^\(memories for app: /gm, "\nuse these memories to provide context-aware responses."],
];
const listParts = new RegExp(
  [
    "^(?:#+ (?:user profile|unverified|recent context|also known|said by the user in another conversation|waiting for the user's consent)|memory updates since rev [^\\n]*:) *\\n" +
      "(?:[^\\n-][^\\n]*\\n)?(?:- [^\\n]*(?:\\n|$))+",
    "^\\[summary of (?:round|messages) [^\\]\\n]*\\]:[^\\n]*(?:\\n[^\\n]+)*",
  ].join("|"),
  "gm",
);

function lostParts(plain: string): Stretch[] {
  const found = Array.from(
    plain.matchAll(listParts),
    ({ index, 0: part }): Stretch => [index, index + part.length],
  );
  for (const [opening, last] of wholeParts) {
    let until = 0;
    for (const { index } of plain.matchAll(opening)) {
      if (index < until) continue;
      const end = plain.indexOf(last, index);
      if (end < 0) break;
      until = Math.max(end + last.length, plain.indexOf("\n", end + 1));
      found.push([index, until]);
    }
  }
  return found;
}

/** Removes memory blocks, `[Previous context: …]` and parts of blocks. Unclosed ones stay. */
export function withoutMemoryBlocks(text: string): string {
  const plain = plainLetters(text);
  return replaceStretches(text, [...contexts(plain), ...blocks(plain), ...lostParts(plain)]);
}

function blocks(plain: string): Stretch[] {
  const found: Stretch[] = [];
  let from: number | undefined;
  for (const { index, 0: whole, 1: slash } of plain.matchAll(memoryTag)) {
    if (slash !== "/") from ??= index;
    else if (from !== undefined) {
      found.push([from, index + whole.length]);
      from = undefined;
    }
  }
  return found;
}

/** A bracket and an empty line end a context (see `modelView`); otherwise the next bracket does. */
function contexts(plain: string): Stretch[] {
  const ends = [...plain.matchAll(/\](?=[\s\0]{0,4}\n[\s\0]{0,4}\n)/g)].map(
    ({ index }) => index + 1,
  );
  const found: Stretch[] = [];
  let end = 0;
  for (const { index } of plain.matchAll(context)) {
    if (index < (found.at(-1)?.[1] ?? 0)) continue;
    while (ends[end] !== undefined && (ends[end] as number) <= index) end++;
    const to = ends[end] ?? plain.indexOf("]", index + 1) + 1;
    if (to === 0) break;
    found.push([index, to]);
  }
  return found;
}
