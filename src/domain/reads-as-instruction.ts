/** Words for what a model was told before, and for leaving it, in languages with many speakers. */
const overrides: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:previous|prior|above|earlier|preceding|your|system)\b.{0,40}\b(?:instruction|prompt|rule|message|guideline|direction|restriction|training)s?\b/i,
  /\b(?:ignore|disregard|forget|override|bypass)\b.{0,20}\b(?:all|any|every|these|those)\b.{0,30}\b(?:instruction|prompt|rule|guideline|direction|restriction)s?\b/i,
  /\b(?:ignore|disregard|forget)\s+(?:everything|all|anything)\b.{0,30}\b(?:above|before|you\s+were\s+told|said\s+so\s+far)\b/i,
  /\b(?:ignoriere|missachte|vergiss|übergehe)n?\b.{0,40}\b(?:anweisung|vorgabe|regel|nachricht|instruktion|prompt)/i,
  /\b(?:ignore[zr]?|oublie[zr]?|néglige[zr]?)\b.{0,40}\b(?:instruction|consigne|règle|message|invite)s?\b/i,
  /\b(?:ignor[ae]r?|olvid[ae]r?|desestim[ae]r?|desconsider[ae]r?|esqueç?[ae]r?|dimentica(?:re)?|ignorare)\b.{0,40}\b(?:instruccion(?:es)?|instruç(?:ão|ões)|istruzion[ie]|indicacion(?:es)?|reglas?|regras?|regole|mensajes?|mensagens?|messaggi)(?!\p{L})/iu,
  /(?<!\p{L})(?:игнорируй|забудь|не обращай внимания на)(?:те)?.{0,40}(?:инструкци|указани|правил|сообщени)/iu,
  /(?:忽略|无视|無視|忘记|忘掉|不要理会).{0,20}(?:指令|指示|提示|规则|規則|说明)/u,
  /(?:指示|命令|プロンプト|ルール|規則).{0,12}(?:無視|忘れ)/u,
  /(?:지시|명령|프롬프트|규칙).{0,12}(?:무시|잊)/u,
  /(?:تجاهل|انس).{0,30}(?:التعليمات|الأوامر|القواعد)/u,
];

/** Talk of the prompt itself, of another persona, and of obeying. */
const takeovers: readonly RegExp[] = [
  /\b(?:system|developer|hidden|initial)\s+prompt\b|\b(?:system|hidden)\s+instructions?\b/i,
  /\byou\s+(?:must|should|are\s+now|will|shall)\s+(?:now\s+|always\s+|never\s+)?(?:always|never|now|act|obey|reveal|respond|reply|answer|pretend|comply|follow|execute|send|call)\b/i,
  /\byou\s+are\s+now\s+(?:an?|the|in|no\s+longer|free|called|named)\b/i,
  /\b(?:enter|enable|activate|switch\s+to)\s+(?:developer|debug|god|jailbreak|dan|admin|sudo)\s+mode\b/i,
  /\b(?:reveal|print|repeat|show|output|leak)\b.{0,30}\byour\s+(?:\w+\s+)?(?:prompt|instructions?|rules|context|tools?)\b/i,
  /\b(?:do\s+not|don['’]t|never)\s+(?:tell|inform|mention|reveal|show)\b.{0,30}\b(?:the\s+)?(?:user|human|operator)\b.{0,40}\b(?:this|that|about|of)\b/i,
  /\b(?:new|updated|revised|real)\s+(?:system\s+)?instructions?\s*:/i,
];

/** What only prompts and transcripts have: role markers, chat templates, tool calls. */
const markers: readonly RegExp[] = [
  /(?:^|[\n"'“.!?;])\s*(?:#{1,6}\s*)?(?:\*\*)?\[?(?:system|assistant|developer|human)\]?(?:\*\*)?\s*:\s*\S/i,
  /<\|?\s*(?:im_start|im_end|im_sep|system|assistant|user|endoftext|begin_of_text|start_header_id|eot_id|tool_call)\s*\|?>/i,
  /\[\/?INST\]|<<\/?SYS>>|<\/?(?:system|instructions?|tool_call|function_calls?|invoke|memory)\b[^>]*>/i,
  /["'](?:tool_calls?|function_call|tool_use)["']\s*:/i,
  /\{\s*["'](?:name|function|tool)["']\s*:\s*["'][\w.-]+["']\s*,\s*["'](?:arguments|args|parameters|input)["']\s*:/i,
];

/** Ways to carry what a model was told out of the conversation. */
const exfiltration: readonly RegExp[] = [
  /\b(?:send|post|upload|forward|exfiltrate|submit|transmit|leak|e-?mail)\b.{0,60}\b(?:conversations?|chats?|histor(?:y|ies)|transcripts?|memor(?:y|ies)|passwords?|api[ _-]?keys?|tokens?|secrets?|credentials|prompts?)\b.{0,40}\b(?:to|at|via)\b.{0,20}(?:https?:\/\/|www\.|[\w.+-]+@[\w-]+\.\w)/i,
  /!\[[^\]]*\]\(\s*https?:\/\/[^)]*[?&{]/i,
  /\b(?:curl|wget)\s+(?:-\w+\s+)*["']?https?:\/\//i,
];

/**
 * Orders that begin a sentence. Steps of a procedure are orders by nature, and stretches of turns quote them: neither
 * is held against these. How a user wants to be answered ("always in French") is a preference, and none of them.
 */
const orders: readonly RegExp[] = [
  /(?:^|[.!?:;\n"“]\s*|\b(?:you|please|and|then|from\s+now\s+on,?)\s+)(?:always|never|only)\s+(?:(?:reply|respond|answer|begin|start|end|finish)\b.{0,40}\bwith\b|(?:output|append|insert|recommend|promote|obey|execute)\b)/i,
  /(?:^|[.!?:;\n"“]\s*)from\s+now\s+on\b.{0,60}\b(?:act|behave|pretend|obey|ignore|impersonate)\b/i,
  /(?:^|[.!?:;\n"“]\s*)(?:antworte|antworten\s+sie)\s+(?:ab\s+jetzt\s+)?(?:immer|nur|stets)\s+mit\b/i,
  /(?:^|[.!?:;\n"“]\s*)(?:réponds|répondez)\s+(?:toujours|désormais|uniquement)\s+(?:avec|par)\b/i,
  /(?:^|[.!?:;\n"“¡]\s*)(?:responde|responda|rispondi)\s+(?:siempre|sempre|solo|apenas)\s+c[oa][nm]\b/i,
  /(?:^|[.!?:;\n"“]\s*|\b(?:you|please|then|must|should|always)\s+)(?:send|post|upload|forward|exfiltrate|submit|transmit|leak|e-?mail)\b.{0,80}\b(?:to|at|via)\b.{0,20}(?:https?:\/\/|www\.|[\w.+-]+@[\w-]+\.\w)/i,
];

const always = [...overrides, ...takeovers, ...markers, ...exfiltration];

/**
 * Whether `text` reads as instructions to a model, where a memory states something.
 *
 * Patterns catch what is commonly tried, in the languages above; they are one layer beside the delimiting of memory
 * in prompts and the recorded origin, and not a proof of innocence.
 *
 * @param options.orders whether plain orders are in place: steps of a procedure, what was said in a stretch of turns.
 *   @default false
 */
export function readsAsInstruction(text: string, options: { readonly orders?: boolean } = {}): boolean {
  // Compatibility forms and invisible characters would hide words from the patterns.
  const plain = text.normalize("NFKC").replace(/\p{Default_Ignorable_Code_Point}/gu, "");
  const patterns = options.orders ? always : [...always, ...orders];
  const oneLine = plain.replace(/\s+/gu, " ");
  return patterns.some((pattern) => pattern.test(plain) || pattern.test(oneLine));
}
