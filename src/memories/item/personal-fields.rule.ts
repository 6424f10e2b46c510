import { plainWords } from "../../text/plain-words.js";
import { ofUser, type PersonalField, phrases, possessed, twoWords } from "./personal-phrases.rule.js";

export type { PersonalField };

/** What keys call each field, as `plainWords` writes them; a category "profile" keeps them under the field's name. */
const keys: Readonly<Record<PersonalField, string>> = {
  preferred_name: `name full_name first_name given_name user_name last_name family_name surname legal_name real_name
    vorname nachname prenom nombre nombre_completo primer_nombre nome_completo primeiro_nome nome voornaam naam имя 名字 姓名
    名前 氏名 이름 성명 nickname nick_name nick goes_by called call_me call_name calling_name display_name name_to_use
    use_name name_used chosen_name preferred_first_name preferred_form_of_address form_of_address how_to_address
    address_as known_as alias preferred_nickname what_to_call rufname spitzname anrede surnom nom_d_usage prenom_d_usage
    apodo mote nombre_preferido alcunha apelido nome_preferido nome_social soprannome nome_preferito bijnaam roepnaam
    прозвище обращение 昵称 暱稱 称呼 稱呼 ニックネーム 呼び名 愛称 별명 닉네임 호칭`,
  pronouns: `pronoun preferred_pronouns gender_pronouns personal_pronouns pronoun_preference pronoun_set pronomen pronoms
    pronom pronombres pronombre pronomes pronome pronomi voornaamwoorden местоимения местоимение 代词 代詞 人称代词 代名詞
    대명사`,
  city: `location current_city current_location city_of_residence place_of_residence home_city lives_in residence
    living_in living_place home_location base based_in city_name town current_town moved_to residence_city
    city_and_country place_of_living where_user_lives stadt wohnort wohnsitz ville lieu_de_residence domicile ciudad
    residencia lugar_de_residencia cidade morada residencia_atual citta residenza luogo_di_residenza stad woonplaats город
    место_жительства 城市 居住地 居住城市 都市 居住都市 住まい 도시 거주지`,
  language: `preferred_language native_language primary_language spoken_language languages languages_spoken mother_tongue
    first_language main_language speaks tongue communication_language reply_language response_language answer_language
    language_preference preferred_response_language ui_language interface_language locale sprache muttersprache
    bevorzugte_sprache langue langue_maternelle langue_preferee idioma idioma_preferido idioma_nativo lengua
    lengua_materna lingua lingua_materna lingua_preferita taal moedertaal язык родной_язык 语言 語言 母语 言語 母語 언어
    모국어`,
};

const fields = Object.keys(keys) as PersonalField[];

const fieldOfKey: ReadonlyMap<string, PersonalField> = new Map(
  fields.flatMap((field) =>
    [field, ...keys[field].split(/\s+/)].map((key) => [plainWords(key), field] as const),
  ),
);

/** The field of a person that a key in snake case means, whatever it is called; null for every other key. */
export function personalKey(key: string): PersonalField | null {
  return fieldOfKey.get(plainWords(key)) ?? null;
}

/** Languages for machines: somebody's choice of one says nothing of the person. */
const ofMachines = `python java javascript typescript c\\+\\+ c# f# rust golang go ruby php swift kotlin scala perl haskell
  elixir erlang clojure lisp sql bash html css matlab julia lua dart fortran cobol r c solidity zig ocaml nim crystal scheme
  racket prolog ada vhdl verilog apex abap gdscript mojo gleam elm vba delphi pascal groovy powershell assembly assembler
  webassembly jsx tsx vue latex typst yaml json xml terraform graphql cuda smalltalk tcl awk purescript
  programming coding code markup query`;
const machineLanguages = new RegExp(
  // Scripts without spaces write on: "Rust言語".
  `(?<![\\p{sc=Latn}\\p{N}])(?:objective-c|visual basic|${ofMachines.trim().replace(/\s+/g, "|")})(?![\\p{sc=Latn}\\p{N}])`,
  "u",
);

/** "Since 2021", "Currently,": what may stand before the subject. */
const before =
  "^(?:[^,]{1,40}, ?|(?:since|as of|in|from|seit|depuis|desde|dal) [^ ]+ |(?:currently|now|today|nowadays|aktuell|derzeit) )?";

const sentences: ReadonlyMap<PersonalField, RegExp> = new Map(
  fields.map((field) => {
    const all = phrases.flatMap(({ who, joined = false, between = twoWords, [field]: said }) => {
      if (said === undefined) return [];
      return `(?:${who})${joined ? "" : "(?: |(?='))"}${between}(?:${said})`;
    });
    const possession = `(?:(?:the|der|die|das|la|le|el|il|o|a|de|het) |l')?(?:${possessed[field]})${ofUser}`;
    return [field, new RegExp(`${before}(?:${[...all, possession].join("|")})`, "u")] as const;
  }),
);

const mostCharacters = 1_000;

/**
 * The field that a sentence about the user states; null for none. It knows phrases of eleven languages in the
 * third person, and no other wording.
 *
 * @param speaker name of who said it, who is meant besides "the user".
 */
export function personalStatement(text: string, speaker?: string | null): PersonalField | null {
  const plain = plainWords(text.slice(0, mostCharacters));
  const name = speaker ? plainWords(speaker).trim() : "";
  const said = plain.split(/[.!?。！？;\n]+/u).map((sentence) => {
    const trimmed = sentence.trim();
    return name !== "" && trimmed.startsWith(name) ? `the user${trimmed.slice(name.length)}` : trimmed;
  });
  const found = fields.find((field) => said.some((sentence) => sentences.get(field)?.test(sentence)));
  return found === "language" && machineLanguages.test(plain) ? null : (found ?? null);
}

export function isMachineLanguage(text: string): boolean {
  return machineLanguages.test(plainWords(text));
}
