import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { askOffice } from "./ask-office.js";
import { ana, type Office, openOffice } from "./open-office.js";
import { heading, row, working } from "./story.js";

/**
 * The demo's second part on the embedded database in `folder`: what lasts beyond a conversation.
 */
export async function playSecondPart(folder: string): Promise<void> {
  heading("3  What lasts beyond a conversation");
  const office = await openOffice(folder);
  try {
    await recordTurns(office);
    await printMemories(office);
    await answerFromEpisode(office);
    await planFromTasks(office);
  } finally {
    await office.memory.close();
  }
}

/** What the user said in twenty turns; some of it is worth remembering. */
const officeTurns: readonly string[] = [
  "My name is Ana and I work as a product manager.",
  "My goal is to launch the web shop in May.",
  "We booked the Alfama hall for the launch party.",
  "I prefer short answers.",
  "My favourite editor is Vim.",
  "The caterer is called Dona Rosa.",
  "Can you draft the invitation?",
  "It goes out on 3 April.",
  "Forty guests are invited so far.",
  "The party may cost 2000 euros.",
  "The band starts at nine.",
  "Is there parking nearby?",
  "The photographer wants half in advance.",
  "Actually, my favourite editor is Helix.",
  "Six guests have declined.",
  "As I said, my goal is to launch the web shop in May.",
  "The posters are printed.",
  "How many chairs does that make?",
  "The florist has called.",
  "That is all for this week.",
];

/** Those that something is made of, by their index. */
const told = [0, 2, 4, 13];

async function recordTurns({ memory }: Office): Promise<void> {
  const recording = `${officeTurns.length} turns are recorded and worked on, among them`;
  const quotes = told.map((turn) => `“${officeTurns[turn]}”`).join(" ");
  await working(`${recording} ${quotes}`, async () => {
    for (const says of officeTurns) {
      const messages = [new HumanMessage(says), new AIMessage("Noted.")];
      await memory.remember({ scope: ana, threadId: "office", messages });
    }
    await memory.idle();
  });
}

async function printMemories({ memory }: Office): Promise<void> {
  const stored = await memory.memories.list({ scope: ana, states: ["active", "superseded"] });
  heading("   What became of them (and who may read it)");
  for (const { kind, category, key, value, text, turns, state } of stored.toReversed()) {
    const words = text.length > 60 ? `${text.slice(0, 59).trimEnd()}…` : text;
    const what = key === null ? words : `${key} = ${value}`;
    const where = turns === null ? "" : `turns ${turns.start}-${turns.end}: `;
    const readers = [...(memory.policy.allowlists ?? [])].filter(([, names]) =>
      names.has(category),
    );
    const notes = [
      state === "active" ? [] : state,
      readers.map(([agent]) => agent).join(", "),
    ].flat();
    row(
      "",
      kind,
      `[${category}] ${where}${what} (${notes.join("; ")})`,
      state === "active" ? undefined : "dim",
    );
  }
}

async function answerFromEpisode(office: Office): Promise<void> {
  const says = "Which hall did we book for the launch party?";
  heading("   A new conversation");
  const [hit] = await office.memory.query({
    scope: ana,
    query: says,
    agent: "supervisor",
    topK: 1,
  });
  if (!hit) throw new Error("Nothing was found.");
  const { kind, turns } = hit.memory;
  await askOffice(office, says);
  const found = `from the ${kind} of turns ${turns?.start}-${turns?.end}, similarity ${hit.similarity.toFixed(2)}`;
  row("", "memory", `${found}: ${hit.reason}`, "dim");
}

async function planFromTasks(office: Office): Promise<void> {
  heading("   Another program adds two tasks: the next round is told of them");
  await office.memory.memories.add({
    scope: ana,
    actor: "tracker",
    memories: [
      { category: "tasks", text: "Before the launch the checkout is tested.", importance: 4 },
      { category: "tasks", text: "For the launch the guests get a discount code." },
    ],
  });
  await askOffice(office, "Plan the launch.");
}
