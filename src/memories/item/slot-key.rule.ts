import { normalForm } from "../../text/normal-value.js";
import { headOf } from "../../text/storable-text.js";
import { personalKey } from "./personal-fields.rule.js";

/** What else models and people call the fields of a user's profile → the name they are kept under. */
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

/** Characters of a key that are read: five times as many as one may have, so that what is too long stays too long. */
const mostCharacters = 1_000;

/**
 * The name of a slot, so that two ways of writing it are one slot: lower snake case, and one name for each
 * field of a profile ("Preferred name" → preferred_name, "Time zone" → timezone). Null when nothing is left.
 */
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
