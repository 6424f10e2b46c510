/**
 * Words that acknowledge, thank, greet or laugh, by language. "Yes" and "no" are none of them: they answer questions.
 */
const courtesies = `
ok okay okey oki k kk okie alright right sure fine great good nice cool perfect awesome amazing wonderful excellent super lovely
brilliant sweet wow oh ah aha hm hmm mhm thanks thank thx ty tysm cheers appreciated welcome please sorry hi hello hey bye goodbye
goodnight morning afternoon evening lol ha xd gotcha got it understood noted makes sense sounds go ahead continue
you u so very much a lot again for that this the all well really just and then
danke dankeschön dank bitte gut prima klar toll hallo tschüss tschüß schön gerne alles genau verstanden moin vielen sehr dir
merci beaucoup bien parfait salut bonjour bonsoir très accord génial compris
gracias muchas vale perfecto genial hola adiós bueno claro entendido muy bien
obrigado obrigada muito valeu perfeito ótimo legal olá oi tchau certo entendi
grazie mille va bene perfetto ottimo ciao certo capito buongiorno
bedankt dankjewel dankuwel goed prima mooi hoi doei begrepen
dzięki dziękuję dobrze super świetnie cześć rozumiem jasne
спасибо хорошо ок окей понял поняла понятно отлично ладно ясно привет пока здравствуйте большое супер
дякую добре зрозуміло чудово привіт
teşekkürler teşekkür ederim tamam sağol harika merhaba anladım
tack takk tak bra fint okej hej
kiitos selvä hyvä moi hienoa
díky děkuji dobře skvělé ahoj rozumím
mulțumesc mersi bine perfect salut köszönöm rendben szia szuper
ευχαριστώ εντάξει ωραία γεια καλά
شكرا شكراً تمام حسنا حسناً جيد ممتاز مرحبا طيب جزيلا
תודה בסדר מעולה סבבה היי אוקיי רבה
धन्यवाद शुक्रिया ठीक है अच्छा नमस्ते
terima kasih makasih baik oke sip halo mantap
cảm ơn cám tốt rồi được chào bạn vâng
감사합니다 감사해요 고마워 고마워요 알겠습니다 알겠어요 좋아요 좋아 안녕하세요 안녕 오케이
`;

/** The same in scripts that put no spaces between words. */
const unspacedCourtesies = `
好的 好 好吧 好啊 嗯 哦 谢谢 謝謝 多谢 多謝 感谢 感謝 你 您 了 的 啊 吧 明白 知道 收到 没问题 沒問題 不错 不錯 太 棒 很好 可以 你好 再见 再見 哈 行
ありがとう ございます ございました どうも はい了解 了解 です しました わかりました 分かりました わかった なるほど いいね いいですね すごい こんにちは おはよう よろしく お願いします オッケー オーケー ね よ
ขอบคุณ มาก ครับ ค่ะ คะ นะ โอเค ดี เยี่ยม สวัสดี เข้าใจแล้ว ได้เลย จ้า
អរគុណ យល់ព្រម ຂອບໃຈ ເຈົ້າ ကျေးဇူးတင်ပါတယ် ဟုတ်ကဲ့
`;

const listed = (words: string) => words.trim().split(/\s+/);

const spaced: ReadonlySet<string> = new Set(listed(courtesies).map(plainWord));
const unspaced = new RegExp(
  `^(?:${listed(unspacedCourtesies)
    .map((word) => word.normalize("NFKC"))
    .toSorted((first, second) => second.length - first.length)
    .join("|")})+$`,
  "u",
);

/** "hahaha", "lolol", "jajaja", "хаха", "kkkk", "www". */
const laughter = /^(?:(?:h[aeio]){2,}h?|(?:j[aei]){2,}j?|l(?:ol)+|(?:ха|хе)+|k+|w+|[ᄏᄒ]+|笑)$/u;

/** Longer ones are none, however letters are drawn out. Thanks without spaces between its words is as long. */
const longestCourtesy = 100;

/** Words beyond which nothing is looked at: a long message is no mere courtesy. */
const mostWords = 12;

/**
 * Whether a user's message holds a word from which something could be learned: more than thanks, greetings, laughter
 * ("ok", "thanks a lot!", "好的，谢谢", "👍").
 */
export function tellsSomething(text: string): boolean {
  let read = 0;
  // Of a word without an end only its beginning is read: a pattern for all of it would exhaust the stack.
  for (const [word] of text.matchAll(/[\p{L}\p{N}][\p{L}\p{M}\p{N}]{0,200}/gu)) {
    if (++read > mostWords || word.length > longestCourtesy || !isCourtesy(plainWord(word))) return true;
  }
  return false;
}

function isCourtesy(word: string): boolean {
  return spaced.has(word) || unspaced.test(word) || laughter.test(word);
}

/** In small letters, without letters that are drawn out ("sooo", "okkk"). */
function plainWord(word: string): string {
  return word
    .normalize("NFKC")
    .toLowerCase()
    .replace(/(\p{L})\1{2,}/gu, "$1");
}
