import { normalForm } from "../../text/normal-value.js";
import { headOf } from "../../text/storable-text.js";
import { personalKey } from "./personal-fields.rule.js";

/** Other names of a profile field → the name it is kept under. */
const profileAliases: ReadonlyMap<string, string> = new Map(
  Object.entries({
    // What somebody is called and what they want to be called are two values of one field.
    name: "name",
    full_name: "name",
    first_name: "name",
    user_name: "name",
    hometown: "home_town",
    time_zone: "timezone",
    tz: "timezone",
    occupation: "job",
    profession: "job",
    job_title: "job",
    company: "employer",
    workplace: "employer",
    works_at: "employer",
    e_mail: "email",
    email_address: "email",
    birth_date: "birthday",
    birthdate: "birthday",
    date_of_birth: "birthday",
    dob: "birthday",
  }),
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
