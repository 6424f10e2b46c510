import { replaceStretches, type Stretch } from "./cut-text.js";

/**
 * Returns whether a part of `text` is quoted: any word in a closed code fence, after ">" or between
 * lines of dashes, or all words in quotation marks. Apostrophes and unclosed marks quote nothing.
 */
export function quotedIn(text: string): (start: number, end: number) => boolean {
  if (!mayQuote.test(text)) return () => false;
  const unblocked = replaceStretches(text, blocksIn(text), " ");
  const own = ownWords(text);
  return (start, end) => {
    const [all, outsideBlocks, unquoted] = [text, unblocked, own].map((each) =>
      letters(each.slice(start, end)),
    );
    return all !== 0 && (outsideBlocks !== all || unquoted === 0);
  };
}

export const ownWords = (text: string): string =>
  mayQuote.test(text)
    ? replaceStretches(text, [...blocksIn(text), ...quotationsIn(text)], " ")
    : text;

const letters = (text: string) => text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;

const fences = /^[ \t]*(`{3,}|~{3,})(.*)$/gm;
const rules = /^[ \t]*([-*_=])\1{2,}[ \t]*$/gm;
const quotedLines = /^[ \t]{0,3}[>＞].*$/gm;

function blocksIn(text: string): Stretch[] {
  const found: Stretch[] = [];
  for (const { 0: line, index } of text.matchAll(quotedLines))
    found.push([index, index + line.length]);
  let open: { readonly mark: string; readonly at: number } | null = null;
  for (const { 0: line, 1: mark = "", 2: trailing = "", index } of text.matchAll(fences)) {
    if (open === null) open = { mark, at: index };
    else if (mark.startsWith(open.mark) && trailing.trim() === "") {
      found.push([open.at, index + line.length]);
      open = null;
    }
  }
  const [first, ...others] = [...text.matchAll(rules)].map(({ index }) => index);
  const last = others.at(-1);
  return first === undefined || last === undefined ? found : [...found, [first, last]];
}

const marks = /[\p{Pi}\p{Pf}\p{Quotation_Mark}`]|\n[ \t]*(?=\n)|\n/gu;
const mayQuote = /[\p{Pi}\p{Pf}\p{Quotation_Mark}`~>＞]|([-*_=])\1\1/u;

/** Marks that close each other. Languages differ: „…“, “…”, ”…”, »…«. */
const families = ["'‘’‚‛", "`", '"“”„‟〝〞〟', "«»", "‹›", "「」", "『』"];
const [singles = ""] = families;
const familyOf = (mark: string) =>
  families.find((family) => family.includes(mark.normalize("NFKC"))) ?? "";

/** In these scripts marks touch the words around them. */
const afterWord =
  /(?![\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}\p{scx=Tibt}])[\p{L}\p{M}\p{N}]$/u;

function quotationsIn(text: string): Stretch[] {
  const found: Stretch[] = [];
  const open = new Map<string, number[]>();
  for (const { 0: mark, index: at } of text.matchAll(marks)) {
    if (mark.startsWith("\n")) {
      // Inline code ends with its line, single quotes with their paragraph.
      open.delete("`");
      if (text[at + mark.length] === "\n") open.delete(singles);
      continue;
    }
    const end = at + mark.length;
    const family = familyOf(mark);
    const isSingle = family === singles || family === "`";
    const around = [text.slice(Math.max(0, at - 2), at), text.slice(end, end + 2)] as const;
    const opened = open.get(family) ?? [];
    if (opened.length > 0 && closes(mark, isSingle, around))
      found.push([opened.pop() as number, end]);
    else if (opens(mark, isSingle, around)) {
      opened.push(at);
      open.set(family, opened);
    }
  }
  return found;
}

type Around = readonly [before: string, after: string];

function closes(mark: string, isSingle: boolean, [before, after]: Around): boolean {
  const ends = /\S$/.test(before);
  if (isSingle || /\p{Pi}/u.test(mark)) return ends && !/^[\p{L}\p{M}\p{N}]/u.test(after);
  return /[\p{Pe}\p{Pf}]/u.test(mark) || (!/\p{Ps}/u.test(mark) && (ends || !/^\S/.test(after)));
}

function opens(mark: string, isSingle: boolean, [before, after]: Around): boolean {
  const isFree = !afterWord.test(before);
  if (isSingle) return isFree && /^[\p{L}\p{M}]/u.test(after);
  return /[\p{Ps}\p{Pi}]/u.test(mark) || (!/\p{Pe}/u.test(mark) && isFree && /^\S/.test(after));
}
