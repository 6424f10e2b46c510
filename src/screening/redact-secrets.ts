const mark = "[redacted]";

/**
 * Keys and tokens by the prefixes that their issuers document, so that scanners can find them. All
 * repetitions in this file are bounded: none takes more than linear time.
 */
const prefixedKeys = [
  "(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}",
  "gh[opsur]_[A-Za-z0-9]{20,255}",
  "(?:github_pat|dckr_pat|lsv2_(?:pt|sk)|pcsk|figd|glsa|sbp|sb_secret)_[A-Za-z0-9_-]{20,255}",
  "(?:hf|npm|gsk|r8|lin_api|ntn|rubygems|shp(?:at|ss|ca|pa)|do[opr]_v1)_[A-Za-z0-9]{20,255}",
  "gl(?:pat|ptt|dt|rt|cbt|ft|imt|agent|oas|soat)-[A-Za-z0-9_-]{16,255}",
  "(?:sk|xai|pplx|tvly|nvapi|pypi|xkeysib|PMAK|sntrys|key)[_-][A-Za-z0-9_=-]{16,255}",
  "(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,255}",
  "whsec_[A-Za-z0-9+/=]{16,255}",
  "xox[abeoprs](?:\\.xox[bp])?-[A-Za-z0-9-]{10,255}|xapp-[A-Za-z0-9-]{10,255}",
  "AIza[A-Za-z0-9_-]{30,255}|ya29\\.[A-Za-z0-9_-]{20,255}|GOCSPX-[A-Za-z0-9_-]{20,255}",
  "SG\\.[A-Za-z0-9_-]{16,64}\\.[A-Za-z0-9_-]{16,64}|hv[bs]\\.[A-Za-z0-9_-]{20,255}",
  "(?:ATATT3|ATCTT3)[A-Za-z0-9_=-]{20,255}|(?:dapi|SK)[0-9a-f]{32}|AGE-SECRET-KEY-1[A-Z0-9]{58}",
  "\\d{8,10}:[A-Za-z0-9_-]{35}",
  // JSON Web Tokens: "eyJ" is '{"' in base64.
  "eyJ[A-Za-z0-9_-]{8,4000}\\.[A-Za-z0-9_-]{8,4000}(?:\\.[A-Za-z0-9_-]{0,4000}){0,3}",
];
const keys = new RegExp(`(?<![A-Za-z0-9_-])(?:${prefixedKeys.join("|")})`, "g");

/** To its end, or, where that was cut off, over what looks like base64. */
const privateKeys =
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?:(?!-----)[\s\S]){0,10000}-----END [A-Z0-9 ]{0,40}-----|(?:(?:\s|\\[nr]){0,4}[A-Za-z0-9+/=.]{8,200}){0,200})/g;

/** A password is all between the user's name and the last "@" before the path. */
const urls = /(:\/\/[^\s:/@?#"'<>]{0,100}:)[^\s/?#"'<>]{1,200}(?=@[\w[])/g;

const webhooks =
  /(hooks\.slack\.com\/(?:services|workflows)\/|discord(?:app)?\.com\/api\/webhooks\/)[\w/-]{20,200}/g;

/** Schemes of the HTTP header `Authorization`. */
const authorization = /\b((?:Bearer|Basic)\s)([A-Za-z0-9._~+/=-]{16,4000})/gi;

/** Fields of libpq, ODBC, OAuth 2, JSON and environment files whose values are secret in any form. */
const secretFields =
  /((?:passw(?:or)?d|pwd|secret|token|_key|apikey)(?:\s?=\s?["']?|["']\s?:\s?["']))([^\s"',;&<>()[\]{}]{6,200})(?![^\s"',;&<>])/gi;

/** Any value that has a name: `name=value`, `name: value`. */
const namedValues = /([=:]\s?["'`]?)([^\s"'`,;<>()[\]{}]{8,200})/g;

/** Neither parts of paths, hosts and longer texts in base64, nor data URLs. */
const runs = /(?<![A-Za-z0-9+/_=.~@#-]|;base64,)[A-Za-z0-9+/_=-]{20,200}(?![A-Za-z0-9+/_=-])/g;

const cards =
  /(?<![\w.+-])(?:\d{4}([ -]?)\d{4}\1\d{4}\1\d{4}(?:\d{3})?|\d{4}([ -]?)\d{6}\2\d{4,5})(?![\w-]|\.\d)/g;
/** Visa, Mastercard, American Express, Diners Club, Discover, UnionPay, JCB. */
const issuers =
  /^(?:4\d{15}(?:\d{3})?|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3[0689]\d{12}|6(?:011|[45]\d\d)\d{12}|62\d{14}(?:\d{3})?|35\d{14})$/;

const ibans = /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b/g;

/** Social security and tax numbers of the United States: area, group, serial number. */
const socialSecurity = /(?<![\w-])(?!000|666)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])/g;

/** Luhn's checksum. */
function hasLuhnDigit(digits: string): boolean {
  let sum = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits[digits.length - 1 - at]);
    const doubled = at % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

function isCard(text: string): boolean {
  const digits = text.replace(/\D/g, "");
  return issuers.test(digits) && hasLuhnDigit(digits);
}

/** ISO 7064, MOD 97-10: the first four characters count as the last, letters from 10. */
function isIban(text: string): boolean {
  const compact = text.replaceAll(" ", "");
  let rest = 0;
  for (const character of compact.slice(4) + compact.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

const isMixed = (text: string): boolean =>
  /[a-z]/.test(text) && /[A-Z]/.test(text) && /\d/.test(text);

const isDigest = (text: string): boolean => /^sha\d{3}-/.test(text);

/**
 * How often the kind of character (small, capital, figure) changes: 0.62 of all places in random
 * letters and figures, 0.3 in names of several words such as "getUserById2".
 */
function changes(text: string): number {
  const kinds = text
    .replace(/[^A-Za-z0-9]/g, "")
    .replace(/[a-z]/g, "a")
    .replace(/[A-Z]/g, "A")
    .replace(/\d/g, "0");
  let count = 0;
  for (let at = 1; at < kinds.length; at++) if (kinds[at] !== kinds[at - 1]) count++;
  return count / kinds.length;
}

const isRandom = (text: string, least: number): boolean =>
  isMixed(text) && /\d.*\d/.test(text) && changes(text) >= least && !isDigest(text);

/** A password with all four kinds of characters, or a random key. */
function isSecretValue(text: string): boolean {
  const value = text.replace(/\.$/, "");
  const isPassword = /^[\w!@#$%^&*+?~-]+$/.test(value) && /.[!@#$%^&*?~]/.test(value);
  if (isPassword && isMixed(value)) return true;
  return value.length >= 16 && /^[\w+/=-]+$/.test(value) && isRandom(value, 0.3);
}

/** Replaces what `isSecret`, after what the pattern's first group keeps. */
function redactValues(
  text: string,
  pattern: RegExp,
  isSecret: (value: string) => boolean = () => true,
): string {
  return text.replace(pattern, (whole, kept: string, value: string) =>
    isSecret(value) ? `${kept}${mark}` : whole,
  );
}

const redactMatches = (
  text: string,
  pattern: RegExp,
  isSecret: (match: string) => boolean = () => true,
): string => text.replace(pattern, (match) => (isSecret(match) ? mark : match));

/**
 * `text` without keys, tokens, passwords and numbers of cards and accounts, which are known by their
 * form, by a checksum, or by how random they are: `redact: "secrets"`.
 */
export function redactSecrets(text: string): string {
  let rest = redactMatches(text, privateKeys);
  rest = redactValues(rest, urls);
  rest = redactValues(rest, webhooks);
  // "sk-fading-circle" is no key: a key has a long part without hyphens.
  rest = redactMatches(rest, keys, (key) => /[A-Za-z0-9]{12}/.test(key));
  rest = redactValues(rest, authorization, (value) => /\d/.test(value) && /[A-Za-z]/.test(value));
  rest = redactValues(rest, secretFields, (value) => /[\d!@#$%^&*+?~]/.test(value));
  rest = redactValues(rest, namedValues, isSecretValue);
  rest = redactMatches(rest, runs, (run) => isRandom(run, 0.42));
  rest = redactMatches(rest, cards, isCard);
  rest = redactMatches(rest, ibans, isIban);
  return redactMatches(rest, socialSecurity);
}
