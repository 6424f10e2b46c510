// Words that acknowledge, thank, greet or laugh, by language; after "/" those that also answer a question.
// "Yes" and "no" always answer.
const courtesies = `
ok okay okey oki k kk okie sure wow oh ah aha hm hmm mhm thanks thank thx ty tysm cheers appreciated
sorry hi hello hey bye goodbye goodnight lol ha xd gotcha got it understood noted
/ alright right fine great good nice cool perfect awesome amazing wonderful excellent super lovely brilliant sweet welcome please
/ morning afternoon evening makes sense sounds go ahead continue
/ you u so very much a lot again for that this the all well really just and then
danke dankeschön dank hallo tschüss tschüß verstanden moin vielen / bitte gut prima klar toll schön gerne alles genau sehr dir
merci accord salut bonjour bonsoir compris / beaucoup bien parfait très génial
gracias vale hola adiós entendido / muchas perfecto genial bueno claro muy bien
obrigado obrigada valeu olá oi tchau entendi / muito perfeito ótimo legal certo
grazie ciao capito buongiorno / mille va bene perfetto ottimo certo
bedankt dankjewel dankuwel hoi doei begrepen / goed prima mooi
dzięki dziękuję cześć rozumiem / dobrze super świetnie jasne
спасибо ок окей понял поняла понятно ясно привет пока здравствуйте / хорошо отлично ладно большое супер
дякую зрозуміло привіт / добре чудово
teşekkürler teşekkür ederim tamam sağol merhaba anladım / harika
tack takk tak hej okej / bra fint
kiitos selvä moi / hyvä hienoa
díky děkuji ahoj rozumím / dobře skvělé
mulțumesc mersi köszönöm salut szia rendben / bine perfect szuper
ευχαριστώ εντάξει γεια / ωραία καλά
شكرا شكراً تمام حسنا حسناً مرحبا طيب جزيلا / جيد ممتاز
תודה בסדר היי אוקיי רבה / מעולה סבבה
धन्यवाद शुक्रिया ठीक है नमस्ते / अच्छा
terima kasih makasih oke sip halo / baik mantap
cảm ơn cám chào vâng / tốt rồi được bạn
감사합니다 감사해요 고마워 고마워요 알겠습니다 알겠어요 안녕하세요 안녕 오케이 / 좋아요 좋아
`;

/** The same in scripts without spaces. */
const unspacedCourtesies = `
好的 嗯 哦 谢谢 謝謝 多谢 多謝 感谢 感謝 明白 知道 收到 没问题 沒問題 你好 再见 再見 哈
/ 好 好吧 好啊 你 您 了 的 啊 吧 不错 不錯 太 棒 很好 可以 行
ありがとう どうも はい了解 了解 わかりました 分かりました わかった なるほど こんにちは おはよう よろしく お願いします
オッケー オーケー / ございます ございました です しました いいね いいですね すごい ね よ
ขอบคุณ โอเค สวัสดี เข้าใจแล้ว ได้เลย / มาก ครับ ค่ะ คะ นะ ดี เยี่ยม จ้า
អរគុណ យល់ព្រម ຂອບໃຈ ເຈົ້າ ကျေးဇူးတင်ပါတယ် ဟုတ်ကဲ့
`;

/** `always`: courtesies even as an answer. */
function tableOf(table: string): { all: string[]; always: string[] } {
  const words = (half: (string | undefined)[]) => half.flatMap((part) => part?.match(/\S+/g) ?? []);
  const lines = table.split("\n").map((line) => line.split("/"));
  const always = words(lines.map(([first]) => first));
  return { all: [...always, ...words(lines.map(([, second]) => second))], always };
}

const spaced = tableOf(courtesies);
const spacedWords = new Set(spaced.all.map(plainWord));
const spacedAlways = new Set(spaced.always.map(plainWord));

const unspaced = tableOf(unspacedCourtesies);
const anyUnspaced = (words: readonly string[]) =>
  words
    .map((word) => word.normalize("NFKC"))
    .toSorted((first, second) => second.length - first.length)
    .join("|");
const unspacedWords = new RegExp(`^(?:${anyUnspaced(unspaced.all)})+$`, "u");
const unspacedAlways = new RegExp(anyUnspaced(unspaced.always), "u");

/** "hahaha", "lolol", "jajaja", "хаха", "kkkk", "www". */
const laughter = /^(?:(?:h[aeio]){2,}h?|(?:j[aei]){2,}j?|l(?:ol)+|(?:ха|хе)+|k+|w+|[ᄏᄒ]+|笑)$/u;

/** Letters. Thanks without spaces between its words is as long. */
const longestCourtesy = 100;

/** A message with more words is no mere courtesy. */
const mostWords = 12;

/**
 * Whether a user's message may contain a fact: more than thanks, greetings, laughter ("ok, thanks!", "👍").
 * @param asked whether it may answer a question: "Great" counts then, "Great, thanks" does not. @default
 *   false
 */
export function tellsSomething(text: string, asked = false): boolean {
  let read = 0;
  let acknowledges = false;
  // Bounded: matching an endless word would exhaust the stack.
  for (const [letters] of text.matchAll(/[\p{L}\p{N}][\p{L}\p{M}\p{N}]{0,200}/gu)) {
    if (++read > mostWords || letters.length > longestCourtesy) return true;
    const word = plainWord(letters);
    if (!isCourtesy(word)) return true;
    acknowledges ||= isAcknowledgement(word);
  }
  return asked && read > 0 && !acknowledges;
}

/** Whether an assistant's `text` ends with a question. */
export function asksSomething(text: string): boolean {
  return /[?？؟⁇⁈՞][^\p{L}\p{N}\n]{0,20}\s*$/u.test(text.slice(-200));
}

function isCourtesy(word: string): boolean {
  return spacedWords.has(word) || unspacedWords.test(word) || laughter.test(word);
}

function isAcknowledgement(word: string): boolean {
  return spacedAlways.has(word) || unspacedAlways.test(word) || laughter.test(word);
}

/** Lower-case, without prolonged letters ("sooo", "okkk"). */
function plainWord(word: string): string {
  return word
    .normalize("NFKC")
    .toLowerCase()
    .replace(/(\p{L})\1{2,}/gu, "$1");
}
