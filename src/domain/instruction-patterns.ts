/*
 * Patterns for text as `plainWords` writes it: lower-case, one space or "\n" between words. Every repetition is bounded,
 * and "." crosses lines, so that none takes more than linear time.
 */

/** Leaving what a model was told, in words that the lists of languages do not have. */
const overrides: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:previous|prior|above|earlier|preceding|your|system)\b.{0,40}\b(?:instruction|prompt|rule|message|guideline|direction|restriction|training)s?\b/s,
  /\b(?:ignore|disregard|forget)\s(?:everything|all|anything|whatever)\b.{0,30}\b(?:above|before|previously|you\swere\stold|said\sso\sfar)\b/s,
  /\b(?:do|does)\snot\sapply\sany\s?more\b|\b(?:instructions?|rules|guidelines|restrictions)\b.{0,30}\b(?:no\slonger\sapply|are\s(?:void|cancell?ed|lifted|revoked|suspended|obsolete))\b/s,
  /\b(?:instead\sof|rather\sthan)\s(?:following\s)?your\s(?:\w{1,20}\s)?(?:instructions|rules|guidelines|prompt)\b/s,
];

/** Talk of the prompt itself, of another persona, and of obeying. */
const takeovers: readonly RegExp[] = [
  /\b(?:your|hidden|initial|original)\s(?:system\s|developer\s)?prompt\b|\byour\s(?:system\s|hidden\s|secret\s)(?:instructions?|message)\b/,
  /(?:^|[.!?:;\n"]\s?)the\s(?:system|developer)\sprompt\s(?:is|says|must|tells|states|has|was|allows|contains|reads)\b/,
  /\byou\s(?:must|should|are\snow|will|shall)\s(?:now\s|always\s|never\s)?(?:act|obey|reveal|pretend|comply|follow|execute)\b/,
  /\byou\sare\snow\s(?:an?|the|in|no\slonger|free|called|named|my|dan)\b/,
  /\b(?:pretend|imagine|act\sas\sif)\s(?:to\sbe|that\syou|you)\b.{0,40}\b(?:no|without|unrestricted|free|not\sbound)\b.{0,30}\b(?:rules?|restrictions?|limits?|filters?|guidelines?|ai|model)\b/s,
  /\b(?:enter|enable|activate|switch\sto|turn\son)\s(?:the\s)?(?:developer|debug|god|jailbreak|dan|admin|sudo|maintenance|root|unrestricted)\smode\b/,
  /\b(?:reveal|print|repeat|show|output|leak|disclose|recite)\b.{0,30}\byour\s(?:\w{1,20}\s)?(?:prompt|instructions?|rules|context|tools?|memory|configuration)\b/s,
  /\b(?:do\snot|don't|never)\s(?:tell|inform|mention|reveal|show|notify|alert)\b.{0,30}\b(?:the\s)?(?:user|human|operator|customer)s?\b.{0,40}\b(?:this|that|about|of|it)\b/s,
  /\bwithout\s(?:telling|informing|notifying|alerting)\sthe\s(?:user|human|operator|customer)\b|\b(?:keep|hide)\s(?:this|it|that)\s(?:\w{1,20}\s)?from\sthe\s(?:user|human|customer)\b/,
  /\b(?:new|updated|revised|real)\s(?:system\s)?instructions?\s?:/,
];

/** What only prompts and transcripts have: role markers, chat templates, tool calls. */
const markers: readonly RegExp[] = [
  /(?:^|[\n"'.!?;])\s?(?:#{1,6}\s?)?(?:\*\*)?\[?(?:system|assistant|developer|human)\]?(?:\*\*)?\s?:\s?(?:\*\*\s?)?\S/,
  /<\|?\s?(?:im_start|im_end|im_sep|system|assistant|user|endoftext|begin_of_text|start_header_id|eot_id|tool_call)\s?\|?>/,
  /\[\/?inst\]|<<\/?sys>>|<\s?\/?\s?(?:system|instructions?|tool_call|function_calls?|invoke|memory)\b[^>]{0,200}>/,
  /["'](?:tool_calls?|function_call|tool_use)["']\s?:/,
  /\{\s?["'](?:name|function|tool)["']\s?:\s?["'][\w.-]{1,80}["']\s?,\s?["'](?:arguments|args|parameters|input)["']\s?:/,
];

const secrets =
  "(?:conversations?|chats?|histor(?:y|ies)|transcripts?|memor(?:y|ies)|passwords?|passcodes?|api[ _-]?keys?|tokens?|secrets?|credentials|prompts?|passwort\\w{0,4}|kennwort|contrasena\\w?|mots?\\sde\\spasse|senhas?|parole?|пароли?|密码|パスワード|비밀번호|sifre\\w{0,6}|hasl[oa]|wachtwoord\\w{0,2}|losenord)";
const elsewhere = "(?:https?:\\/\\/|www\\.|[\\w.+-]{1,60}@[\\w-]{1,60}\\.\\w)";
const send =
  "(?:send|post|upload|forward|exfiltrate|submit|transmit|leak|e-?mail|schicke?|sende|envia|envie|envoie|envoyez|invia|manda|отправь|отправьте|gonder|wyslij|stuur|skicka|发送|發送)";

/** Ways to carry what a model was told out of the conversation. */
const exfiltration: readonly RegExp[] = [
  new RegExp(`(?<![\\p{L}\\p{N}])${send}(?![a-z]).{0,60}${secrets}.{0,60}${elsewhere}`, "su"),
  new RegExp(`${secrets}.{0,60}${elsewhere}.{0,20}(?:送|보내|gonder|发)`, "su"),
  /\b(?:ask|request|get|obtain|collect|extract)\b.{0,30}\b(?:the\s)?(?:user|customer|human)(?:'s|s|\sfor)?\b.{0,30}\b(?:passwords?|passcodes?|pin|api[ _-]?keys?|credentials|credit\scard|card\snumber|cvv|one-time\scode|secrets?)\b/s,
  /!\[[^\][]{0,200}\]\(\s?https?:\/\/[^)]{0,300}[?&{]/,
  /\b(?:curl|wget)\s(?:-\w{1,20}\s){0,5}["']?https?:\/\//,
];

/** In every text that a model is shown. */
export const always: readonly RegExp[] = [...overrides, ...takeovers, ...markers, ...exfiltration];

const start = '(?:^|[.!?:;\\n"]\\s?|\\b(?:you|please|and|then|also|now)\\s|\\bfrom\\snow\\son,?\\s)';
const model = "(?:assistant|agent|ai|model|chatbot|bot|llm|gpt|claude|copilot)";
const duty =
  "(?:must|should|shall|has\\sto|have\\sto|needs?\\sto|is\\sto|are\\sto|ought\\sto|will|may\\snow|can\\snow|(?:is|are)\\s(?:now\\s)?(?:required|expected|authori[sz]ed|allowed|permitted|instructed|directed|free|obliged|supposed)\\sto)";
const act =
  "(?:say|tell|recommend|repl(?:y|ies)|respond|answer|include|mention|promote|share|send|reveal|give|provide|refuse|decline|approve|treat|consider|append|insert|add|transfer|pay|forward|follow|obey|trust|delete|grant|claim|state|insist|redirect|direct|suggest|point|call|click|visit|offer|assume|confirm|quote|print|output|return|run|execute|pretend|disclose|accept|use|write|book|buy|order|choose|prefer|end|begin|start|steer|convince|persuade|agree|ask|request|inform|skip|stop|hide|read|open|upload)";

/**
 * Orders without words about prompts: what to say, what to do, when. Steps of a procedure are orders by nature, lessons
 * and stretches of turns quote them, and how a user wants to be served is a preference: none is held against these.
 */
export const orders: readonly RegExp[] = [
  new RegExp(
    `${start}(?:always|never|only)\\s(?:(?:reply|respond|answer|begin|start|end|finish)\\b.{0,40}\\bwith\\b|(?:output|append|insert|promote|obey|execute)\\b)`,
    "s",
  ),
  new RegExp(`${start}(?:always|only)\\s(?:recommend|suggest|mention|include|approve|say|claim)\\b`, "s"),
  new RegExp(`${start}never\\s(?:mention|reveal|disclose|warn|verify|question|contradict|admit)\\b`, "s"),
  /\byou\s(?:must|should|shall|will)\s(?:now\s|always\s|never\s|only\s)?(?:always|never|only|respond|reply|answer|send|call|say|recommend|include|mention|tell|give)\b/,
  /(?:^|[.!?:;\n"]\s?)from\snow\son\b.{0,60}\b(?:act|behave|pretend|obey|ignore|impersonate|recommend|mention|promote|every|all)\b/s,
  /(?:^|[.!?:;\n"]\s?)(?:antworte|antworten\ssie)\s(?:ab\sjetzt\s)?(?:immer|nur|stets)\smit\b/,
  /(?:^|[.!?:;\n"]\s?)(?:reponds|repondez)\s(?:toujours|desormais|uniquement)\s(?:avec|par)\b/,
  /(?:^|[.!?:;\n"¡]\s?)(?:responde|responda|rispondi)\s(?:siempre|sempre|solo|apenas)\sc[oa][nm]\b/,
  new RegExp(
    `${start}(?:should\\s|must\\s)?(?:send|post|upload|forward|exfiltrate|submit|transmit|leak|e-?mail)\\b.{0,80}\\b(?:to|at|via)\\b.{0,20}${elsewhere}`,
    "s",
  ),
  new RegExp(`\\b(?:the|any|every|all|an?)\\s${model}s?\\s${duty}\\s(?:\\w{1,20}\\s){0,2}${act}\\b`, "s"),
  new RegExp(`\\b(?:the|every|an?)\\s${model}\\s(?:always|never|only|automatically)\\s\\w{2,20}s\\b`),
  new RegExp(
    `\\b(?:when(?:ever)?|if|each\\stime|every\\stime|any\\s?time|as\\ssoon\\sas|once|in\\scase)\\b[^.!?]{2,80}(?:,|\\sthen)\\s(?:(?:please|always|just|simply|only|then|first|also)\\s){0,2}${act}\\b(?!\\s(?:is|was|are)\\b)`,
    "s",
  ),
  /\b(?:all|any|every|each|the|your|future|subsequent|its)\s(?:\w{1,20}\s){0,2}(?:answer|repl(?:y|ie)|response|output|summar(?:y|ie)|recommendation)s?\s(?:[\w-]{1,20}\s){0,6}?(?:must|should|shall|has\sto|have\sto|needs?\sto|(?:is|are)\sto)\s/s,
  /\b(?:correct|right|only|best|official|proper|expected|approved|standard)\s(?:answer|reply|response)\s(?:to|for|when|if)\b.{0,30}\b(?:any|every|all|questions?|asked|anyone|such|inquir|requests?)\b/s,
  new RegExp(
    `\\b(?:admin(?:istrator)?s?|developers?|openai|anthropic|google|microsoft|the\\s(?:company|vendor|operator|owner|security\\steam|system)|management|it\\sdepartment|compliance)\\b.{0,40}\\b(?:requires?|wants?|instructs?|orders?|has\\s\\w{4,12}ed|have\\s\\w{4,12}ed|expects?|says?|asks?)\\b.{0,30}\\b(?:${model}s?|you)\\b`,
    "s",
  ),
  /\b(?:dear|attention|hey|hello|hi|note\s(?:to|for)|(?:message|reminder|memo|notice|instructions?|for)\s(?:to|for|any|all))\s(?:the\s|any\s|all\s|every\s)?(?:ai|assistant|language\smodel|llm|chatbot|agent|gpt|claude|model|copilot)s?\b.{0,30}[:,—-]/s,
  /(?:^|[.!?:;\n"]\s?)(?:please\s|now\s|then\s|first,?\s)?(?:tell|inform|ask|convince|persuade|advise|instruct|remind|urge|direct|push|nudge|steer|encourage)\s(?:the\s|every\s|all\s|any\s)?(?:users?|customers?|humans?|clients?|readers?|people|visitors?|anyone|everyone|them|him|her)\b/,
  /(?:^|[.!?:;\n"]\s?)(?:please\s|now\s|then\s)?(?:recommend|promote|advertise|endorse|praise)\s(?!ed\b)\S{1,40}/,
  /(?:^|[.!?:;\n"]\s?)(?:please\s|now\s|then\s)?(?:transfer|wire|pay|refund|delete|erase|wipe|approve|grant|download|install|visit|click|open|forward|escalate)\s(?:all|any|every|the|this|these|that|it|\$|€|£|\d|here|on|https?)/,
  /(?:^|[.!?:;\n"]\s?)(?:remember|be\ssure|make\ssure|don't\sforget|never\sfail|take\scare)\s(?:to\s|that\s(?:you|the\sassistant|every|all)\s)(?:always\s|never\s)?\w/,
  /\bit\sis\s(?:important|essential|critical|mandatory|necessary|vital|crucial|imperative)\s(?:that|to|for)\b.{0,40}\b(?:answers?|assistants?|agents?|ai|you|replies|responses?|recommend|mention|say)\b/s,
  /\b(?:no\s(?:confirmation|approval|verification|permission|consent)\s(?:is\s)?(?:needed|required|necessary)|without\s(?:asking|confirming\swith|consulting)\sthe\suser|(?:no\sneed|not\snecessary|unnecessary)\sto\s(?:ask|confirm|verify|check)\b|pre-?approved\b.{0,30}\b(?:payments?|transfers?|purchases?|actions?|requests?))/s,
];

/** The same words run together, cut up or written backwards: letters only, as `joinedLetters` gives them. */
export const joined: readonly RegExp[] = [
  /(?:ignor[ei]|disregard|forget|overr[iy]de|bypass)[a-z]{0,14}(?:previous|prior|preceding|above|earlier|your|system|developer|allthe|allof|anyof|any|all)[a-z]{0,14}(?:instruct[il]on|prompt|gu[il]del[il]ne|d[il]rect[il]ve|rules|command)/,
  /(?:reveal|print|show|output|leak|disclose)[a-z]{0,10}(?:your[a-z]{0,8}(?:instruct[il]ons|prompt)|the(?:hidden|system)prompt)/,
  /(?:snoitcurtsni|tpmorp|selur|senilediug)[a-z]{0,14}(?:suoiverp|roirp|ruoy|evoba|lla|metsys|reilrae)[a-z]{0,14}(?:erongi|dragersid|tegrof|edirrevo)/,
  /(?:ignorier|vergiss|missacht)[a-z]{0,12}(?:all|vorher|bisher|dein)[a-z]{0,16}(?:anweisung|regeln|vorgaben)/,
  /(?:ignor[ea]|ignorez|oublie|olvida|esqueca|dimentica)[a-z]{0,10}(?:tout|tod|tutt|las|les|as|le)[a-z]{0,12}(?:instrucc?ion|instrucoes|istruzioni|consignes|reglas|regras|regole)[a-z]{0,12}(?:anterior|precedent|previ)/,
];
