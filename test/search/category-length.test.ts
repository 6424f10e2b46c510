import { expect, it } from "vitest";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const numbers = Array.from({ length: 8 }, (_, index) => index);
const recipes = (rag_length?: number) => ({
  categories: {
    custom: [
      { name: "recipes", context: "rag" as const, ...(rag_length !== undefined && { rag_length }) },
    ],
  },
});

it.each([
  [2, 2],
  [undefined, 8],
])(
  "A rag_length of %s shows %i memories of eight that fit, slots and statements alike",
  async (length, shown) => {
    const memory = db.memory({ config: recipes(length) });
    const scope = { userId: `cook ${length}` };
    await memory.memories.add(
      numbers.map((n) => ({
        text: `Recipe ${n} needs saffron and pot${n}.`,
        category: "recipes",
        importance: 4,
        ...(n % 2 === 0 && { key: `recipe_${n}`, value: `saffron and pot${n}` }),
      })),
      { scope },
    );
    await memory.memories.add({ text: "The user buys saffron on Fridays." }, { scope });
    const { memories } = await memory.recall({
      scope,
      threadId: `cooks ${length}`,
      query: "saffron in pot5",
    });
    const all = [
      ...memories.profile,
      ...memories.relevant.map((hit) => hit.memory),
      ...memories.related,
    ];
    const ofRecipes = all.filter(({ category }) => category === "recipes").map(({ text }) => text);
    expect(ofRecipes).toHaveLength(shown);
    // What fits the question goes first.
    expect(ofRecipes).toContain("Recipe 5 needs saffron and pot5.");
    expect(all.map(({ text }) => text)).toContain("The user buys saffron on Fridays.");
  },
);
