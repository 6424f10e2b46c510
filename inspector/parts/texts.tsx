import { diffLines, diffWordsWithSpace } from "diff";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { SharedWords } from "../api-types.js";
import { hrefOf, type Params } from "../place.js";

/** Longest text that is compared word by word; longer ones are compared by lines. */
const mostWordCharacters = 20_000;

const unspaced =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}ー\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Khmer}\\p{Script=Lao}\\p{Script=Myanmar}";

/** What somebody wrote, in whatever script: never more than text. */
export function Words({ text, most = 2_000 }: Readonly<{ text: string; most?: number }>) {
  const [all, setAll] = useState(false);
  const shown = all ? text : text.slice(0, most);
  return (
    <span class="words">
      <bdi>{shown}</bdi>
      {shown.length < text.length && (
        <button type="button" class="plain" onClick={() => setAll(true)}>
          … show all {count(text.length)} characters
        </button>
      )}
    </span>
  );
}

/** A text with the words marked that begin with one of `beginnings`, in small letters. */
export function Marked({
  text,
  beginnings,
}: Readonly<{ text: string; beginnings: readonly string[] }>) {
  const parts = beginnings.length === 0 ? [text] : text.split(/([\p{L}\p{N}]+)/u);
  const isMarked = (word: string) =>
    beginnings.some((beginning) => word.toLowerCase().startsWith(beginning));
  return (
    <bdi>
      {parts.map((part, place) =>
        place % 2 === 1 && isMarked(part) ? <mark key={`${place}`}>{part}</mark> : part,
      )}
    </bdi>
  );
}

/** A text with whole words marked, as the server found them: in a question, or in an answer alone. */
export function MarkedWords({ text, words }: Readonly<{ text: string; words: SharedWords }>) {
  const asked = new Set(words.question);
  const all = [...new Set([...words.question, ...words.answer])].sort(
    (one, two) => two.length - one.length,
  );
  if (all.length === 0) return <bdi>{text}</bdi>;
  const within = all.map((word) => word.replace(/[.\\]/g, "\\$&")).join("|");
  // Scripts without spaces have no ends of words.
  const parts = text.split(
    new RegExp(
      `((?<![\\p{L}\\p{N}](?<![${unspaced}]))(?:${within})(?![\\p{L}\\p{N}](?<![${unspaced}])))`,
      "u",
    ),
  );
  return (
    <bdi>
      {parts.map((part, place) =>
        place % 2 === 0 ? (
          part
        ) : (
          <mark key={`${place}`} class={asked.has(part) ? undefined : "answered"}>
            {part}
          </mark>
        ),
      )}
    </bdi>
  );
}

/** Words of a search, as `Marked` takes them. */
export function wordsOf(search = ""): readonly string[] {
  return search.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];
}

/** How a text became another. */
export function Difference({ before, after }: Readonly<{ before: string; after: string }>) {
  const byWords = before.length + after.length <= mostWordCharacters;
  const parts = byWords ? diffWordsWithSpace(before, after) : diffLines(before, after);
  return (
    <p class="difference" dir="auto">
      {parts.map(({ value, added, removed }, place) => {
        const Part = added ? "ins" : removed ? "del" : "span";
        return <Part key={`${place}`}>{value}</Part>;
      })}
    </p>
  );
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
export function When({
  at,
  withTime = false,
}: Readonly<{ at: string | null; withTime?: boolean }>) {
  if (at === null) return <span class="faint">never</span>;
  const date = new Date(at);
  return (
    <time dateTime={at} title={exact.format(date)}>
      {inWords(date)}
      {withTime && `, ${timeOfDay.format(date)}`}
    </time>
  );
}

/** A link to a memory. */
export function MemoryLink({
  id,
  whose,
  text = id.slice(0, 8),
  children = <bdi>{text}</bdi>,
}: Readonly<{ id: string; whose: Params; text?: string; children?: ComponentChildren }>) {
  return <a href={hrefOf({ view: "memory", params: { ...whose, id } })}>{children}</a>;
}

/** A label of a few letters: a state, a kind. */
export function Tag({ of, tone = "plain" }: Readonly<{ of: string; tone?: string }>) {
  return <span class={`tag ${tone}`}>{of.replaceAll("_", " ")}</span>;
}

/** A name of code for people: "consent-expiry" as "Consent expiry". */
export function titleOf(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1).replaceAll(/[-_]/g, " ");
}

/** The tone of a memory's or a job's state. */
export function toneOf(state: string): string {
  if (["active", "completed", "approved"].includes(state)) return "good";
  if (["failed", "quarantined", "refused"].includes(state)) return "bad";
  return ["pending", "processing", "running", "waiting"].includes(state) ? "waiting" : "plain";
}

/** A view's title, with what can be done beside it. */
export function Head({
  title,
  children,
}: Readonly<{ title: string; children?: ComponentChildren }>) {
  return (
    <div class="head">
      <h1 title={title}>
        <bdi>{title}</bdi>
      </h1>
      {children}
    </div>
  );
}
