import { monthNames } from "./month-names.js";

const asksWhen =
  /^\W*(?:(?:since |until )?when|how long(?: ago)?|how recently|(?:in |on )?(?:what|which) (?:date|day|week|month|season|year|time))\b/i;

const days = "(?:mon|tues|wednes|thurs|fri|satur|sun)day";
/** "May" is mostly the verb. */
const months = monthNames.filter((name) => name !== "may").join("|");
const spans = "day|night|morning|evening|week|weekend|month|season|spring|summer|autumn|fall|winter|year";
const tellsWhen = new RegExp(
  `\\b(?:yesterday|today|tonight|tomorrow|ago|recently|just|${days}|${months}|(?:last|next|this|past) (?:${spans}|${days})|(?:${spans})s|(?:19|20)\\d\\d)\\b`,
  "i",
);

/** Characters of a text that are looked at: a time that is said later is not what the text is about. */
const mostCharacters = 10_000;

/**
 * For `question` in English, whether a text says a time, as an answer to a question for one must; of no text when it
 * does not ask for a time.
 */
export function answersWhen(question: string): (text: string) => boolean {
  return asksWhen.test(question) ? (text) => tellsWhen.test(text.slice(0, mostCharacters)) : () => false;
}
