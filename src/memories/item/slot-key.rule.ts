import { normalForm } from "../../text/normal-value.js";
import { headOf } from "../../text/storable-text.js";
import { personalKey } from "./personal-fields.rule.js";

/** Other names of a profile field → the name it is kept under. */
const profileAliases: ReadonlyMap<string, string> = new Map(
  Object.entries({
    // Not `preferred_name`: what somebody is called, and wants to be called, are two slots.
    name: "name full_name first_name user_name",
    home_town: "hometown",
    timezone: "time_zone tz",
    job: "occupation profession job_title",
    employer: "company workplace works_at",
    email: "e_mail email_address",
    birthday: "birth_date birthdate date_of_birth dob",
  }).flatMap(([field, names]) => names.split(" ").map((name) => [name, field] as const)),
);

/** Five times the longest key, so that a key that is too long stays too long. */
const mostCharacters = 1_000;

/** One name for all spellings of a slot: lower snake case, one name a profile field. Null when empty. */
export function slotKey(category: string, key: string): string | null {
  const snake = normalForm(headOf(key, mostCharacters), "NFKC")
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1_$2")
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, "_")
    .replace(/^_+|_+$/g, "");
  if (snake === "") return null;
  if (category !== "profile") return snake;
  return profileAliases.get(snake) ?? personalKey(snake) ?? snake;
}
