import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";
import { mostCorrected } from "../search-limits.rule.js";
import type { WordForms } from "./asked-terms.rule.js";

/** Looks up the forms of words. */
export interface CorrectedWords {
  /**
   * The forms of the first of `words` that are among `unknown`, by word: as many as are corrected. `near` is empty for the
   * others. One small round trip, none where all are known here.
   *
   * @param unknown lexemes of the question that no text has.
   * @throws MemoryError `DATABASE_TIMEOUT` after `timeoutMs`
   */
  find(
    words: readonly string[],
    unknown: ReadonlySet<string>,
    timeoutMs: number,
  ): Promise<ReadonlyMap<string, WordForms>>;
}

/** Lexemes kept: of two hundred words some 600 each, which take 8 MB. */
const mostKept = 120_000;

/** A word's forms as far as they are known: the near ones are looked up only for a word that is corrected. */
interface KnownForms {
  readonly lexemes: readonly string[];
  readonly near: readonly string[] | null;
}

/**
 * Forms of words in the language of `db`. What was looked up is kept, since it never changes: people misspell the same
 * words, and ask with words that a store does not know.
 */
export function createCorrectedWords(db: Connection): CorrectedWords {
  const known = new Map<string, KnownForms>();
  let kept = 0;
  const sizeOf = ({ lexemes, near }: KnownForms) => lexemes.length + (near?.length ?? 0);
  const forgetWord = (word: string) => {
    const forms = known.get(word);
    if (forms) kept -= sizeOf(forms);
    known.delete(word);
  };
  const keep = (word: string, forms: KnownForms) => {
    forgetWord(word);
    known.set(word, forms);
    kept += sizeOf(forms);
    for (const oldest of known.keys()) {
      if (kept <= mostKept) break;
      forgetWord(oldest);
    }
  };
  return {
    async find(words, unknown, timeoutMs) {
      const isCorrected = ({ lexemes }: KnownForms) => lexemes.some((lexeme) => unknown.has(lexeme));
      const lacks = (forms: KnownForms | undefined) => !forms || (forms.near === null && isCorrected(forms));
      const found = new Map(words.map((word) => [word, known.get(word)]));
      const lacking = words.filter((word) => lacks(found.get(word)));
      const rows = lacking.length === 0 ? [] : await findForms(db, lacking, unknown, timeoutMs);
      for (const { word, lexemes, near } of rows) found.set(word, { lexemes, near });
      let corrected = 0;
      const forms = new Map<string, WordForms>();
      for (const [word, each] of found) {
        if (!each) continue;
        keep(word, each);
        const isMeant = isCorrected(each) && corrected++ < mostCorrected;
        forms.set(word, { lexemes: each.lexemes, near: isMeant ? (each.near ?? []) : [] });
      }
      return forms;
    },
  };
}

/** The lexemes of `words`, and of what is near the first of them that are `unknown`; null for the others. */
async function findForms(
  db: Connection,
  words: readonly string[],
  unknown: ReadonlySet<string>,
  timeoutMs: number,
): Promise<({ word: string } & KnownForms)[]> {
  const lexemes = (text: Sql) => sql`tsvector_to_array(to_tsvector(${db.language}::regconfig, ${text}))`;
  return db.query<{ word: string; lexemes: string[]; near: string[] | null }>(
    sql`
    select w.word, w.lexemes, case when w.misspelt and w.nth <= ${mostCorrected} then
        ${lexemes(sql`${db.schema}.one_edit_away(w.word)`)}
      end as near
    from (
      select l.*, count(*) filter (where l.misspelt) over (order by l.place) as nth
      from (
        select a.*, a.lexemes && ${[...unknown]}::text[] as misspelt
        from (
          select c.word, c.place, ${lexemes(sql`c.word`)} as lexemes
          from unnest(${words}::text[]) with ordinality c (word, place)
        ) a
      ) l
    ) w
    order by w.place`,
    { prepare: true, timeoutMs },
  );
}
