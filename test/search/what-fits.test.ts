import { beforeAll, describe, expect, it } from "vitest";
import { type Memory, memoryQueryTool } from "../../src/index.js";
import { memoryBlock } from "../../src/prompt/memory-block.js";
import { useTestDatabase } from "../support/test-database.js";
import { asDrafts, openThread } from "../support/thread-facts.js";

const db = useTestDatabase();

const texts = (hits: readonly { readonly memory: { readonly text: string } }[]) =>
  hits.map(({ memory }) => memory.text);

describe("a user with a dozen facts", () => {
  const facts = [
    "The user cycles to work along the canal.",
    "The user's daughter Inês plays the viola.",
    "The user makes a rhubarb cake every spring.",
    "The user works at the harbour office as a pilot planner.",
    "The user's landlord is called Mr Fonseca.",
    "The user gets migraines from red wine.",
    "The user reads letters of the nineteenth century.",
    "The user wants to walk the Camino in May.",
    "The user's dog Bica is afraid of fireworks.",
    "The user uses Redis as a cache for tide tables.",
    "The user uses Biome for formatting of code.",
    "The user uses Vitest for tests of code.",
  ];
  let memory: Memory;
  const thread = { scope: { userId: "rita" }, threadId: "t" };
  const found = async (query: string) => {
    const hits = texts(await memory.query({ scope: thread.scope, query }));
    const { memories } = await memory.recall({ ...thread, threadId: query, query });
    expect(texts(memories.relevant)).toEqual(hits);
    return hits;
  };

  beforeAll(async () => {
    memory = db.memory();
    await memory.memories.add({ scope: thread.scope, memories: asDrafts(facts) });
  });

  it.each([
    "Write a regular expression that matches an IPv4 address.",
    "Translate 'the office closes early today' into Finnish for a notice on the door.",
    "What did Caroline say about her adoption agency in June?",
    "What's 17% of 2,340?",
    "Schreib mir ein kurzes Gedicht über den Herbst.",
    "Escreve uma receita de sopa de lentilhas.",
    "東京タワーの高さは何メートルですか?",
    "ok",
  ])("Nothing fits %j", async (query) => expect(await found(query)).toEqual([]));

  it.each([
    ["What does my daughter play?", 1],
    ["I get headaches: is it the wine?", 5],
    ["Tell me about Bica", 8],
    ["Hello! I slept badly and the bus was late twice. When do I want to walk the Camino?", 7],
  ])("One fact fits %j", async (query, place) =>
    expect(await found(query)).toEqual([facts[place]]),
  );

  it("A long story needs less in common with a fact than a short question", async () => {
    const story =
      "The day began slowly, since nobody wanted to leave the house in that rain. We played cards until lunch, and then my aunt " +
      "arrived with two suitcases full of blankets, as if we lived in the mountains. She told us about the ferry, about a sailor who " +
      "lost his hat, and about the price of everything. In the end we stood in the kitchen, cut some rhubarb and let the oven " +
      "do the rest, while the radio played songs that only she could sing along with.";
    expect(await found(story)).toContain(facts[2]);
  });

  it("Beside a fact that fits, facts with a frequent word are noise", async () => {
    expect(await found("Which cache do we use for tide tables?")).toEqual([facts[9]]);
    expect(await found("Which tools are used for code?")).toEqual(
      expect.arrayContaining([facts[10], facts[11]]),
    );
  });
});

describe("statements that say different things of the same", () => {
  const days = ["2026-03-02", "2026-09-14"].map((day) => new Date(`${day}T10:00Z`));
  const told = async (
    statements: readonly string[],
    clock = () => new Date("2026-11-01T10:00Z"),
  ) => {
    const { memory, scope, threadId } = openThread(db, { clock });
    const drafts = statements.map((text, at) => ({ text, validFrom: days[at]! }));
    await memory.memories.add({ scope, memories: drafts });
    return { memory, scope, threadId };
  };
  const old = "The chair of the rowing club is Marta Lopes.";
  const now = "The chair of the rowing club is Duarte Reis.";

  it.each([
    ["the new one last", [old, now]],
    ["the old one last", [now, old]],
  ])("The later comes first, each with its date: %s", async (_, statements) => {
    const { memory, scope, threadId } = await told(statements);
    const query = "Who is the chair of the rowing club?";
    expect(texts(await memory.query({ scope, query }))).toEqual([statements[1], statements[0]]);
    const recalled = await memory.recall({ scope, threadId, query });
    expect(texts(recalled.memories.relevant)).toEqual([statements[1], statements[0]]);
    expect(memoryBlock(recalled)).toContain(
      `${statements[1]} (since 14 September 2026)\n- [knowledge] ${statements[0]} (since 2 March 2026)`,
    );
    const configurable = { thread_id: threadId, user_id: scope.userId };
    const answer = await memoryQueryTool(memory).invoke({ query }, { configurable });
    expect(JSON.parse(answer)).toMatchObject([{ since: "2026-09-14" }, { since: "2026-03-02" }]);
  });

  it("Of a day that the question names, the statement of that day comes first", async () => {
    const { memory, scope } = await told([old, now]);
    const query = "Who was the chair of the rowing club on 2 March 2026?";
    expect(texts(await memory.query({ scope, query }))[0]).toBe(old);
  });

  it("Statements of the same day have their dates, others none", async () => {
    const clock = () => days[1]!;
    const { memory, scope, threadId } = openThread(db, { clock });
    const other = "The rowing club meets on Tuesdays.";
    await memory.memories.add({ scope, memories: asDrafts([old, now, other]) });
    const query = "Who is the chair of the rowing club, and when does it meet?";
    const block = memoryBlock(await memory.recall({ scope, threadId, query }));
    for (const text of [old, now]) expect(block).toContain(`${text} (since 14 September 2026)`);
    expect(block).toMatch(/meets on Tuesdays\.\n/);
    const unasked = memoryBlock(await memory.recall({ scope, threadId: "u", query: "A haiku!" }));
    for (const text of [old, now]) expect(unasked).toContain(`${text} (since 14 September 2026)`);
  });

  it("Both of two true statements are kept, unmarked, for 40 pairs", async () => {
    for (const [frame, ...ends] of pairs) {
      const statements = ends.map((end) => frame!.replace("…", end));
      const { memory, scope, threadId } = await told(statements);
      const query = frame!.replace("…", "what");
      const recalled = await memory.recall({ scope, threadId, query });
      const block = memoryBlock(recalled);
      for (const text of statements) expect(block).toContain(text);
      expect(linesOf(block)).not.toMatch(/earlier|outdated|no longer|replaced|former/);
      expect(texts(await memory.query({ scope, query })).toSorted()).toEqual(statements.toSorted());
    }
    expect(pairs).toHaveLength(40);
  });
});

const linesOf = (block: string | null) =>
  block
    ?.split("\n")
    .filter((line) => line.startsWith("- "))
    .join("\n");

const pairs = `
The user speaks … at home.|Portuguese|Dutch
The user's sister … lives in Utrecht.|Clara|Helena
The user plays … on Sundays.|the cello|chess
The user is allergic to ….|peanuts|penicillin
The user has visited … twice.|Kyoto|Oslo
The user owns a … boat.|red rowing|small sailing
The user's daughter goes to … lessons on Mondays.|ballet|swimming
The user drinks … in the morning.|green tea|orange juice
The user takes … every evening.|magnesium|vitamin D
The user wrote a book about ….|lighthouses|tidal mills
The user is a member of the … club.|rowing|chess
The user's cat … sleeps on the sofa.|Nori|Miso
The user grows … on the balcony.|tomatoes|basil
The user works with … at the harbour office.|Paulo|Renata
The user bought a … for the kitchen.|kettle|blender
The user dislikes … in soup.|coriander|celery
The user learns … with an app.|Japanese|Polish
The user is afraid of ….|heights|deep water
The user studied … in Porto.|chemistry|music
The user collects … from flea markets.|stamps|clocks
The user's office has a … on the third floor.|printer|terrace
The user runs … in spring.|a half marathon|with the dog
The user pays … by direct debit.|the rent|the phone bill
The user's son … studies in Coimbra.|Tiago|Nuno
The user reads … before sleeping.|poems|crime novels
The user's bicycle has … lights.|front|rear
The user sends … to the tax adviser in January.|receipts|bank statements
The user cooks … for guests.|fish stew|mushroom risotto
The user's garden has a … tree.|lemon|fig
The user subscribes to the … newspaper.|weekend|local
The user uses … for the release of the app.|GitHub Actions|a shell script
The user's team writes … in TypeScript.|the backend|the tests
The user plans a trip to … with friends.|Madeira|Galicia
The user volunteers at the … on Saturdays.|food bank|animal shelter
The user wears … for hiking.|wool socks|old boots
The user's grandmother was born in the village of … or told so.|Alvito|Serpa
The user sings … in the choir.|tenor|solo parts
The user's phone contract includes … abroad.|data|calls
The user repaired the … last winter.|roof|boiler
The user prefers … seats on trains.|window|quiet
`
  .trim()
  .split("\n")
  .map((line) => line.split("|"));
