/** Half open: from its first place to the one after its last. */
type Stretch = readonly [from: number, to: number];

/**
 * For `text`, whether a part of it is shown or quoted by its writer, as the form tells: a word of it stands in a closed code
 * fence, on a line that begins with ">" or between lines of dashes, or all its words stand in quotation marks.
 * Apostrophes, and what is opened but not closed, quote nothing.
 */
export function quotedIn(text: string): (start: number, end: number) => boolean {
  if (!mayQuote.test(text)) return () => false;
  const blocks = joined(blocksIn(text));
  const quoted = joined([...blocks, ...quotationsIn(text)]);
  return (start, end) => {
    const words = [...text.slice(start, end).matchAll(word)].map(({ index }) => start + index);
    return words.some(isIn(blocks)) || (words.length > 0 && words.every(isIn(quoted)));
  };
}

/** `text` with spaces in the place of all that is quoted: what its writer says. */
export function ownWords(text: string): string {
  if (!mayQuote.test(text)) return text;
  let own = "";
  for (const [from, to] of joined([...blocksIn(text), ...quotationsIn(text)])) {
    own += text.slice(own.length, from) + " ".repeat(to - from);
  }
  return own + text.slice(own.length);
}

const word = /[\p{L}\p{N}]+/gu;

/** In order, those that touch as one. */
function joined(stretches: readonly Stretch[]): Stretch[] {
  const result: [number, number][] = [];
  for (const [from, to] of stretches.toSorted(([one], [other]) => one - other)) {
    const last = result.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else result.push([from, to]);
  }
  return result;
}

/** Whether a place is in one of `stretches`, which are in order. */
function isIn(stretches: readonly Stretch[]): (at: number) => boolean {
  return (at) => {
    let [low, high] = [0, stretches.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((stretches[middle] as Stretch)[1] <= at) low = middle + 1;
      else high = middle;
    }
    return low < stretches.length && (stretches[low] as Stretch)[0] <= at;
  };
}

const fence = /^[ \t]*(`{3,}|~{3,})[^\n]*$/;
const rule = /^[ \t]*([-*_=])\1{2,}[ \t]*$/;
const quotedLine = /^[ \t]{0,3}[>＞]/;

function blocksIn(text: string): Stretch[] {
  const found: Stretch[] = [];
  const rules: Stretch[] = [];
  let open: { readonly mark: string; readonly at: number } | null = null;
  let at = 0;
  for (const line of text.split("\n")) {
    const end = at + line.length;
    const [, mark = ""] = fence.exec(line) ?? [];
    if (open === null && mark !== "") open = { mark, at };
    else if (open !== null && mark.startsWith(open.mark) && line.trim() === mark) {
      found.push([open.at, end]);
      open = null;
    }
    if (rule.test(line)) rules.push([at, end]);
    if (quotedLine.test(line)) found.push([at, end]);
    at = end + 1;
  }
  // All between the first and the last: what is pasted may hold such lines itself.
  const [first, last] = [rules.at(0), rules.at(-1)];
  return first && last && first !== last ? [...found, [first[0], last[1]]] : found;
}

const marks = /[\p{Pi}\p{Pf}\p{Quotation_Mark}`]|\n[ \t]*(?=\n)|\n/gu;
const mayQuote = /[\p{Pi}\p{Pf}\p{Quotation_Mark}`~>＞]|([-*_=])\1\1/u;

/** Marks that close each other: languages open and close with different ones of them, „…“, “…”, ”…”, »…«. */
const families = ["'‘’‚‛", "`", '"“”„‟〝〞〟', "«»", "‹›", "「」", "『』"];
const familyOf = (mark: string) => families.find((family) => family.includes(mark.normalize("NFKC"))) ?? "";
/** They are apostrophes, too. */
const single = /^['`]/;

const letter = /[\p{L}\p{M}]/u;
const inWord = /[\p{L}\p{M}\p{N}]/u;
/** In these scripts marks touch the words around. */
const unspaced =
  /[\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}\p{scx=Tibt}]/u;

function quotationsIn(text: string): Stretch[] {
  const found: Stretch[] = [];
  const open = new Map<string, number[]>();
  for (const { 0: mark, index: at } of text.matchAll(marks)) {
    if (mark.startsWith("\n")) {
      // Code in a line ends with it, and an apostrophe opens no more than a paragraph.
      open.delete("`");
      if (mark.length > 1 || text[at + 1] === "\n") open.delete(families[0] as string);
      continue;
    }
    const family = familyOf(mark);
    const opened = open.get(family) ?? [];
    const [before, after] = [lastOf(text.slice(Math.max(0, at - 2), at)), firstOf(text, at + mark.length)];
    if (opened.length > 0 && closes(mark, family, before, after)) {
      found.push([opened.pop() as number, at + mark.length]);
    } else if (opens(mark, family, before, after)) {
      opened.push(at);
      open.set(family, opened);
    }
  }
  return found;
}

const firstOf = (text: string, at: number) => {
  const code = text.codePointAt(at);
  return code === undefined ? "" : String.fromCodePoint(code);
};
const lastOf = (text: string) => [...text].at(-1) ?? "";

/** Where a quotation of the same family is open. */
function closes(mark: string, family: string, before: string, after: string): boolean {
  if (single.test(family)) return before.trim() !== "" && !inWord.test(after);
  if (/\p{Ps}/u.test(mark)) return false;
  if (/\p{Pi}/u.test(mark)) return before.trim() !== "" && !inWord.test(after);
  if (/[\p{Pe}\p{Pf}]/u.test(mark)) return true;
  return before.trim() !== "" || after.trim() === "";
}

function opens(mark: string, family: string, before: string, after: string): boolean {
  const isFree = !inWord.test(before) || unspaced.test(before);
  if (single.test(family)) return isFree && letter.test(after);
  if (/\p{Pe}/u.test(mark)) return false;
  if (/[\p{Ps}\p{Pi}]/u.test(mark)) return true;
  return isFree && after.trim() !== "";
}
