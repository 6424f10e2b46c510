import fc from "fast-check";
import { toSql } from "pgvector";
import sql from "sql-template-tag";
import { beforeAll, expect, it } from "vitest";
import { ensureEmbeddingSpace, halfvec, halfvecs } from "../../src/models/embedding-space.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
beforeAll(() => db.memory({ embeddings: new HashingEmbeddings({ dimensions: 4 }) }).setup());

it("halfvec is what pgvector makes of the same vector's text", async () => {
  const near = [
    1,
    -1,
    0,
    -0,
    0.5,
    2 ** -14,
    2 ** -15,
    2 ** -24,
    2 ** -25,
    1.5 * 2 ** -25,
    1e-9,
    1 - 2 ** -12,
    0.99999,
  ];
  const number = fc.oneof(fc.double({ min: -1, max: 1, noNaN: true }), fc.constantFrom(...near));
  const small = number.map((value) => value * 2 ** -12);
  const vectors = fc.sample(fc.array(fc.oneof(number, small), { minLength: 1, maxLength: 50 }), 300);
  for (const vector of vectors) {
    const { rows } = await db.pool.query("select $1::halfvec::text as binary, $2::halfvec::text as text", [
      halfvec(vector),
      toSql(vector),
    ]);
    expect(rows[0].binary).toBe(rows[0].text);
  }
});

it("halfvecs is the array of them, with what is null", async () => {
  const space = await ensureEmbeddingSpace(db.database, { name: "arrays", dimensions: 3 });
  const element = fc.option(
    fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 3, maxLength: 3 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(element, { maxLength: 20 }), async (vectors) => {
      const array = halfvecs(
        space,
        vectors.map((vector) => vector && halfvec(vector)),
      );
      const texts = vectors.map((vector) => vector && toSql(vector));
      const [row] = await db.database.query<{ same: boolean }>(
        sql`select ${array} = ${texts}::text[]::${space.type}[] as same`,
      );
      expect(row).toEqual({ same: true });
    }),
    { numRuns: 50 },
  );
});
