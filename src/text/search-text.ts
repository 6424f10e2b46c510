import { normalForm } from "./normal-value.js";
import { headOf } from "./storable-text.js";

/** Base form, then the forms that an English stemmer does not reduce to it. */
const forms = `
be am is are was were been
begin began begun
bite bit bitten
blow blew blown
break broke broken
bring brought
build built
buy bought
catch caught
choose chose chosen
come came
child children
deal dealt
do did done
draw drew drawn
drink drank drunk
drive drove driven
eat ate eaten
fall fell fallen
feel felt
fight fought
find found
fly flew flown
foot feet
forget forgot forgotten
forgive forgave forgiven
freeze froze frozen
get got gotten
give gave given
go went gone
grow grew grown
have had has
hear heard
hide hid hidden
hold held
keep kept
know knew known
lead led
leave left
lend lent
lose lost
make made
man men
mean meant
meet met
mouse mice
pay paid
person people
ride rode ridden
ring rang rung
rise rose risen
run ran
say said
see saw seen
sell sold
send sent
shake shook shaken
shoot shot
show shown
sing sang sung
sit sat
sleep slept
speak spoke spoken
spend spent
stand stood
steal stole stolen
swim swam swum
take took taken
teach taught
tell told
think thought
throw threw thrown
tooth teeth
understand understood
wake woke woken
wear wore worn
win won
woman women
write wrote written
`;

const irregularForms: ReadonlyMap<string, string> = new Map(
  forms
    .trim()
    .split("\n")
    .flatMap((line) => {
      const [base = "", ...others] = line.split(" ");
      return others.map((form) => [form, base] as const);
    }),
);

/** `to_tsvector` skips words of 2,048 bytes, and fails for texts with more than 1 MB of different words. */
const most = {
  characters: 100_000,
  /** Characters decomposed at once. */
  part: 5_000,
  /** Characters of scripts without spaces: each makes two words, so 4,000 different ones come sooner. */
  unsegmented: 20_000,
  /** Bytes of a text: `to_tsvector` makes at most four times as many of words and their parts ("well-known"). */
  bytes: 250_000,
  /** Different words, a row of the index each. A long book chapter has as many. */
  words: 4_000,
  /** Letters of a word, beyond which it is cut. Digests have up to 128. */
  letters: 128,
  /** Characters without a space, beyond which signs separate words. Addresses have fewer. */
  unspaced: 256,
  name: 200,
};

const longUnspaced = new RegExp(`\\S{${most.unspaced + 1},}`, "gu");
const anyWord = /[\p{L}\p{M}\p{N}]+/gu;
const signs = /[^\p{L}\p{M}\p{N}]+/gu;
const longWord = new RegExp(`([\\p{L}\\p{M}\\p{N}]{${most.letters}})[\\p{L}\\p{M}\\p{N}]+`, "gu");

/** Scripts that `to_tsvector` does not split into words; the long vowel mark "ー" belongs to two of them. */
const unsegmented =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー\p{Script=Hangul}\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}\p{Script=Myanmar}]+/gu;

/** "don't", "won't": stop words, but PostgreSQL finds "won" in them. */
const negated = /\b[a-z]+n['’]t\b/g;

/** English stop words that are names when written so. */
const stopNames = /(?<![\p{L}\p{N}'’])(?:Will|Don|Ma|IT|WHO)(?![\p{L}\p{N}]|['’]t)/gu;
const within = /[\p{L}\p{N},;:)"”’]\s+$/u;
/** After a name that begins a sentence: "Will is", "Don's", "Will?". "Will it" asks. */
const behindName = /^(?:['’]s|\s+(?:is|was|has|had|and|[a-z]{2,20}(?:s|ed))(?![a-z])|\s*(?:[?.!,]|$))/u;

/** Appends a digit to the copy of a stop word that is a name, so that it equals no other word. */
function withStopNames(text: string): string {
  return text.replace(stopNames, (word, at: number) => {
    const before = text.slice(Math.max(0, at - 3), at);
    const behind = text.slice(at + word.length, at + word.length + 24);
    const isName =
      word === word.toUpperCase()
        ? /\p{Ll}/u.test(before + behind)
        : within.test(before) || behindName.test(behind);
    return isName ? `${word} ${word}0` : word;
  });
}

/** Words that are also written as one, "Wi-Fi", numbers of flights and models, "LH 1234", versions, "v2.3.1", "@ana_m", "MAX_ROWS". */
const severalForms =
  /(?<![\p{L}\p{N}-])(?:(\p{Script=Latin}{1,3})-(\p{Script=Latin}{2,8})(?![\p{L}\p{N}-])|([A-Z]{1,3})[ -](\d{2,5})(?![\p{L}\p{N}])|[vV]\.?(\d{1,4}(?:\.\d{1,4}){1,3})(?![\p{L}\p{N}])|(@[\p{L}_]{2,30}|[A-Z]{2,30}(?:_[A-Z\d]{1,30})+))/gu;

function withOneForm(text: string): string {
  return text.replace(
    severalForms,
    (said, ...[first, second, letters, digits, version, name]: (string | undefined)[]) =>
      `${said} ${name ? `${name.replace(/[@_]/g, "")}0` : (version ?? `${first ?? letters}${second ?? digits}`)}`,
  );
}

/**
 * `text` for `to_tsvector`, in indexing and queries alike: without accents, irregular English forms reduced,
 * with other spellings (Wi-Fi, wifi) and names that are stop words (Will, will0), scripts without spaces as
 * pairs.
 */
export function searchText(text: string, language: string): string {
  const latin = decomposed(headOf(text, most.characters).replaceAll("\u0000", " ")).replace(
    /(?<=\p{Script=Latin})\p{M}+/gu,
    "",
  );
  const joined = withOneForm(latin);
  const named = language === "english" ? withStopNames(joined) : joined;
  const plain = normalForm(named, "NFC").toLowerCase();
  let left = most.unsegmented;
  const spaced = plain.replace(unsegmented, (run) => {
    const read = headOf(run, left);
    left -= read.length;
    return ` ${partsOf(read).join(" ")} `;
  });
  const short = spaced.replace(longUnspaced, (run) => run.replace(signs, " ")).replace(longWord, "$1");
  return indexable(language === "english" ? inBaseForms(short) : short);
}

/** A speaker's `name` for the index of speakers. */
export function searchName(name: string, language: string): string {
  return searchText(headOf(name, most.name), language);
}

function decomposed(text: string): string {
  let parts = "";
  for (let start = 0; start < text.length && parts.length < most.characters; start += most.part) {
    parts += normalForm(text.slice(start, start + most.part), "NFKD");
  }
  return headOf(parts, most.characters);
}

/** The base of an irregular English form, such as "go" of "went". */
export function irregularBase(word: string): string | undefined {
  return irregularForms.get(word);
}

function inBaseForms(text: string): string {
  return text.replace(negated, " ").replace(/[a-z]+/g, (word) => irregularForms.get(word) ?? word);
}

function indexable(text: string): string {
  // A character is at most one word of three bytes.
  if (text.length <= most.words) return text;
  const words = new Set<string>();
  let bytes = 0;
  for (const { 0: word, index } of text.matchAll(anyWord)) {
    bytes += Buffer.byteLength(word) + 1;
    words.add(word);
    if (bytes > most.bytes || words.size > most.words) return text.slice(0, index);
  }
  return text;
}

const ideograph = /\p{Script=Han}/u;

function partsOf(run: string): string[] {
  const characters = [...run];
  if (characters.length === 1) return characters;
  const pairs = characters.slice(1).map((character, index) => `${characters[index]}${character}`);
  return [...pairs, ...characters.filter((character) => ideograph.test(character))];
}
