import { diffLines, diffWordsWithSpace } from "diff";
import { useState } from "preact/hooks";
import type { SharedWords } from "../api-types.js";

/** Longest text that is compared word by word; longer ones are compared by lines. */
const maxWordCharacters = 20_000;

const unspaced =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}ー\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Khmer}\\p{Script=Lao}\\p{Script=Myanmar}";

/** What somebody wrote, in whatever script: never more than text. */
export function Words({ text, most = 2_000 }: { text: string; most?: number }) {
  const [all, setAll] = useState(false);
  const shown = all ? text : text.slice(0, most);
  return (
    <span>
      <bdi>{shown}</bdi>
      {shown.length < text.length && (
        <button type="button" class="plain" onClick={() => setAll(true)}>
          … show all {count(text.length)} characters
        </button>
      )}
    </span>
  );
}

/** Words to mark in a text. */
interface MarkedWords extends Partial<SharedWords> {
  readonly areBeginnings?: true;
}

/**
 * A text with whole words marked, as the server found them: in a question, or in an answer alone;
 * or with those that begin with a word of a search, in capitals or not.
 */
export function Marked({ text, words }: { text: string; words: MarkedWords }) {
  const { question = [], answer = [], areBeginnings } = words;
  const all = [...new Set([...question, ...answer])];
  if (all.length === 0) return <bdi>{text}</bdi>;
  const longestFirst = all.sort((one, two) => two.length - one.length);
  const within = longestFirst.map((word) => word.replace(/[.\\]/g, "\\$&")).join("|");
  // Scripts without spaces have no ends of words.
  const [before, letter] = [`(?<![${unspaced}])`, "[\\p{L}\\p{N}]"];
  const end = areBeginnings ? `${letter}*` : `(?!${letter}${before})`;
  const word = `((?<!${letter}${before})(?:${within})${end})`;
  const kindOf = (found: string) =>
    answer.includes(found) && !question.includes(found) ? "answered" : undefined;
  return (
    <bdi>
      {text
        .split(new RegExp(word, areBeginnings ? "iu" : "u"))
        .map((part, place) => (place % 2 === 0 ? part : <mark class={kindOf(part)}>{part}</mark>))}
    </bdi>
  );
}

/** Words of a search, as `Marked` takes them. */
export function wordsOf(search = "") {
  const question: string[] = search.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];
  return { question, areBeginnings: true } as const;
}

/** How a text became another. */
export function Difference({ before, after }: { before: string; after: string }) {
  const byWords = before.length + after.length <= maxWordCharacters;
  const parts = byWords ? diffWordsWithSpace(before, after) : diffLines(before, after);
  return (
    <p class="difference" dir="auto">
      {parts.map(({ value, added, removed }) => {
        const Part = added ? "ins" : removed ? "del" : "span";
        return <Part>{value}</Part>;
      })}
    </p>
  );
}

/** Values of code, without ids of evidence: a memory's page links what it rests on. */
export function jsonOf(value: unknown): string | undefined {
  return JSON.stringify(value, (name, each) => (name === "evidence" ? undefined : each));
}

/** A number for people. */
export function count(value: number): string {
  return value.toLocaleString("en", { maximumFractionDigits: 0 });
}

/** A number with its noun. */
export function counted(value: number, one: string, several = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : several}`;
}

const exact = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "long" });
const timeOfDay = new Intl.DateTimeFormat("en-GB", { timeStyle: "short" });
const ago = new Intl.RelativeTimeFormat("en", { style: "narrow", numeric: "always" });
const units = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** A time as people say it: "3h ago" within a week, else the day. */
function inWords(date: Date): string {
  const passedMs = Date.now() - date.getTime();
  if (Math.abs(passedMs) < 60_000) return "just now";
  if (Math.abs(passedMs) < 7 * 86_400_000) {
    const [unit, ms] = units.find(([, each]) => Math.abs(passedMs) >= each) ?? units[2];
    return ago.format(-Math.trunc(passedMs / ms), unit);
  }
  const isThisYear = date.getFullYear() === new Date().getFullYear();
  return date.toLocaleDateString("en-GB", {
    day: "numeric",
    month: "short",
    ...(!isThisYear && { year: "numeric" }),
  });
}

/** A time in words, with the time of day if asked; exactly, with its zone, when pointed at. */
export function When({ at, withTime = false }: { at: string | null; withTime?: boolean }) {
  if (at === null) return <span class="faint">never</span>;
  const date = new Date(at);
  return (
    <time dateTime={at} title={exact.format(date)}>
      {inWords(date)}
      {withTime && `, ${timeOfDay.format(date)}`}
    </time>
  );
}

const tones: Readonly<Record<string, readonly string[]>> = {
  good: ["active", "approved", "completed", "created", "done", "in use", "pinned"],
  bad: ["failed", "quarantined", "refused"],
  waiting: ["pending", "processing", "running", "waiting", "due again", "found"],
};

/** A label of a few letters: a state, a kind. Its tone is that of its words unless it is given. */
export function Tag({ of, tone }: { of: string; tone?: string }) {
  const own = Object.keys(tones).find((each) => tones[each]?.includes(of));
  return <span class={`tag ${tone ?? own ?? "plain"}`}>{of.replaceAll("_", " ")}</span>;
}

/** A name of code for people: "consent-expiry" as "Consent expiry". */
export function titleOf(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1).replaceAll(/[-_]/g, " ");
}

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
