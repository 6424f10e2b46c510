import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { modelView } from "mnemograph";
import { app, type Calendar, openCalendar } from "./open-calendar.js";
import { ana } from "./open-office.js";
import { unmarked } from "./play-round.js";
import { heading, row, working } from "./story.js";

/**
 * The demo's third part on the embedded database in `folder`: what an app remembers of
 * conversations that ended.
 */
export async function playThirdPart(folder: string): Promise<void> {
  heading("4  An app keeps a note of each conversation that ended");
  const calendar = await openCalendar(folder);
  try {
    await firstConversation(calendar);
    await secondConversation(calendar);
    await nineMore(calendar);
    await printCompaction(calendar);
  } finally {
    await calendar.memory.close();
  }
}

const scope = { ...ana, ...app };

async function firstConversation(calendar: Calendar): Promise<void> {
  await say(calendar, "first", "I have meetings after 2 pm only.");
  await say(calendar, "first", "Thanks!");
  const [ended] = await calendar.memory.threads.list({ scope });
  row("", "ended", `by the agent's own tool: ${ended?.endedReason}`, "dim");
  await calendar.memory.idle();
  const [note] = await calendar.memory.notes.list({ scope: app });
  if (!note) throw new Error("There is no note.");
  row("", "note", note.text);
  await calendar.memory.memories.update({ scope: app, id: note.id, pinned: true });
  row("", "pinned", "by the team that runs the app, so that it always stays", "dim");
}

async function secondConversation(calendar: Calendar): Promise<void> {
  heading("   Another conversation: the note is in its prompt");
  const asked = "When can we have meetings?";
  row("", "you", asked);
  const recalled = await calendar.memory.recall({ scope, threadId: "second", query: asked });
  for (const line of notesShown(modelView([new HumanMessage(asked)], recalled)))
    row("", "shown", line, "dim");
  row("", "answer", await answerOf(calendar, "second", asked));
  await say(calendar, "second", "The dentist is on Friday at three.");
  await say(calendar, "second", "Thank you!");
  await calendar.memory.idle();
}

/** What users said in nine further conversations, a sentence each. */
const remarks: readonly string[] = [
  "The standup is at nine from June on.",
  "My sister visits in the second week of August.",
  "The tax papers are due on 31 May.",
  "Reminders a day before are early enough.",
  "The gym closes at eight on Sundays.",
  "Lisbon has a holiday on 13 June.",
  "The piano lesson is every other Thursday.",
  "The car goes to the garage on Monday.",
  "Team lunches are in the canteen.",
];

async function nineMore({ memory }: Calendar): Promise<void> {
  heading("   Nine more conversations end: eleven in all, and ten notes stay");
  await working("They are recorded and ended, and leave a note each", async () => {
    for (const [index, says] of remarks.entries()) {
      const threadId = `more-${index}`;
      await memory.remember({ scope, threadId, messages: [new HumanMessage(says)] });
      await memory.threads.end({ scope, threadId, reason: "done" });
      await memory.idle();
    }
  });
}

async function printCompaction({ memory }: Calendar): Promise<void> {
  const ended = (await memory.threads.list({ scope })).filter(({ endedAt }) => endedAt !== null);
  row(
    "",
    "stay",
    `${await memory.notes.count({ scope: app })} notes of ${ended.length} conversations`,
  );
  const [gone] = await memory.memories.list({
    scope: app,
    kinds: ["note"],
    states: ["soft_deleted"],
  });
  if (!gone) throw new Error("No note has gone.");
  row("", "gone", gone.text);
  const [entry] = await memory.memories.history({ scope: app, id: gone.id });
  const { reason } = (entry?.new ?? {}) as { reason?: string };
  row("", "because", reason ?? "It has no reason.");
  row("", "undo", "within 30 days, with memory.memories.restore", "dim");
}

/** A turn with the agent, printed. */
async function say(calendar: Calendar, threadId: string, says: string): Promise<void> {
  row("", "you", says);
  const answer = await answerOf(calendar, threadId, says);
  // That something was noted says nothing.
  if (answer !== `Noted: ${says}`) row("", "answer", answer);
}

async function answerOf({ agent }: Calendar, threadId: string, says: string): Promise<string> {
  const configurable = { thread_id: threadId, user_id: scope.userId, app_id: scope.appId };
  const { messages } = await agent.invoke({ messages: [new HumanMessage(says)] }, { configurable });
  return unmarked(messages.at(-1)?.text ?? "");
}

/** The lines of a prompt that hold the app's notes. */
function notesShown(view: readonly BaseMessage[]): string[] {
  const prompt = view.map((message) => message.text).join("\n");
  const [notes = ""] = /^\(memories for app: .*(?:\n.*)*?\n\n(?:\d+\. .*\n?)+/m.exec(prompt) ?? [];
  return notes.split("\n").filter((line) => line !== "");
}
