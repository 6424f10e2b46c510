import { about, agreeing, fillers, harmless, refusing } from "./consent-words.js";
import { plainWords } from "./plain-words.js";
import { onOneLine } from "./storable-text.js";
import { anyStem } from "./word-stems.js";

const stems = agreeing.split(/\s+/).filter((stem) => stem !== "");
/** Words that agree only where they are all of a clause: 好 begins many others. */
const alone = anyStem(
  stems
    .filter((stem) => stem.startsWith("="))
    .map((stem) => stem.slice(1))
    .join(" "),
  true,
);
const first = anyStem(stems.filter((stem) => !stem.startsWith("=")).join(" "), true);
const filler = `(?:${anyStem(fillers, true)}\\s?){0,3}`;
const agrees = new RegExp(`^${filler}(?:${alone}[的吧啊呀啦嘛哦ねよ요!\\s]{0,3}$|(${first}))`, "u");
const isAbout = new RegExp(`${alone}|${first}|${anyStem(about, true)}`, "u");
const refuses = new RegExp(anyStem(refusing, true), "u");
const refusesFirst = new RegExp(`^${filler}${anyStem(refusing, true)}`, "u");
const harmlessPhrases = new RegExp(anyStem(harmless, true), "gu");
/** Question marks, and endings that ask without one. */
const asks = /[?\u037E\u055E\u061F\u1367]|(?:吗|嗎|呢|か|까요?)[\s.。!！"']*$|\bor\snot[\s.!]*$/u;

/** Longest message that is taken for an answer, in characters. */
const mostCharacters = 4_000;

/**
 * The stretch of the user's `message` that says what was decided, as it stands there; null where `quote` is no evidence
 * of it.
 *
 * It is one or more whole sentences of the message, or all of it, and no question; of an essay of more than 4,000
 * characters nothing is. To approve, it agrees, in words of
 * some fifty languages, and neither it nor what stands beside it refuses or puts off. Case, white space and the marks at
 * either end may differ.
 */
export function consentQuote(message: string, quote: string, decision: "approve" | "refuse"): string | null {
  if (message.length > mostCharacters) return null;
  const sentences = sentencesOf(message);
  const found = wholeSentences(sentences, quote);
  if (found === null) return null;
  const quoted = sentences.slice(found.from, found.to);
  if (quoted.some((sentence) => asks.test(sentence.trim()))) return null;
  if (decision === "approve") {
    const others = [...sentences.slice(0, found.from), ...sentences.slice(found.to)];
    if (!quoted.some(isAgreement) || quoted.some(isRefusal) || others.some(takesBack)) return null;
  }
  return quoted.join("").trim();
}

/** `text` cut after each sentence and line; together they are the whole text. */
function sentencesOf(text: string): string[] {
  const segments = new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(text);
  return [...segments].map(({ segment }) => segment);
}

/** Which sentences `quote` consists of; null where it is only a part of one, or none of them. */
function wholeSentences(sentences: readonly string[], quote: string): { from: number; to: number } | null {
  const wanted = bare(quote);
  if (wanted === "") return null;
  const said = sentences.map(bare);
  for (let from = 0; from < said.length; from++) {
    let stretch = "";
    for (let to = from; to < said.length && stretch.length < wanted.length; to++) {
      stretch = `${stretch} ${said[to]}`.trim();
      if (stretch === wanted) return { from, to: to + 1 };
    }
  }
  return null;
}

/** The words of `text`, with one space for whatever parts them. */
function bare(text: string): string {
  return plainWords(onOneLine(text))
    .replace(/(?![👍✅👌🙏])[^\p{L}\p{M}\p{N}👍✅👌🙏]+/gu, " ")
    .trim();
}

function clausesOf(sentence: string): string[] {
  const plain = plainWords(onOneLine(sentence)).replace(harmlessPhrases, "");
  // What is quoted is somebody else's.
  const own = plain.replace(/"[^"]{0,2000}"|「[^」]{0,2000}」|『[^』]{0,2000}』/g, " ");
  return own
    .split(/[,，、،;:：…()"。.!！\n]+|\s[-–—]+\s/u)
    .map((clause) => clause.trim())
    .filter((clause) => clause !== "");
}

function isAgreement(sentence: string): boolean {
  return clausesOf(sentence).some((clause) => {
    const [, word] = agrees.exec(clause) ?? [undefined, undefined];
    if (word === undefined) return agrees.test(clause);
    // The shortest words mean other things in other languages: "si", "da", "ya".
    return [...word].length > 2 || !/^[a-z]+$/.test(word) || clause.split(" ").length <= 4;
  });
}

function isRefusal(sentence: string): boolean {
  return refuses.test(plainWords(onOneLine(sentence)).replace(harmlessPhrases, ""));
}

/** Whether another sentence of the message refuses, or denies having agreed. */
function takesBack(sentence: string): boolean {
  const plain = plainWords(onOneLine(sentence)).replace(harmlessPhrases, "");
  return refusesFirst.test(plain) || (refuses.test(plain) && isAbout.test(plain));
}
