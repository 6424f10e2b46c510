import { openTerminal } from "./chat/terminal.js";

// Talk to a supervisor with memory: at the terminal, or with lines piped in. "/help" lists the
// commands.
//
// OPENAI_API_KEY, OPENAI_BASE_URL any OpenAI-compatible endpoint; without a key an offline stand-in
// MNEMOGRAPH_CHAT_MODEL, MNEMOGRAPH_SUMMARY_MODEL default gpt-4.1-mini DATABASE_URL default: an
// embedded database in ./.mnemograph MNEMOGRAPH_CONFIG a YAML file with settings of the memory,
// like ./demo/memory.yaml MNEMOGRAPH_THREAD, MNEMOGRAPH_USER default "chat", "me" NO_COLOR,
// FORCE_COLOR whether there are colours; by default where the terminal shows them

let ending = false;
let round = new AbortController();
const terminal = openTerminal(() => {
  if (ending) process.exit(130);
  ending = true;
  round.abort();
  terminal.close();
});

// Before what follows is loaded, which takes a second or two.
terminal.print("Mnemograph: a supervisor, a planner and an executor that remember.", "bold");
const { explainError } = await import("./chat/explain-error.js");
try {
  const { openConversation } = await import("./chat/open-conversation.js");
  const { close, greet, say } = await openConversation(process.env, terminal);
  try {
    await greet();
    while (!ending) {
      const line = await terminal.read();
      if (line === null || ending) break;
      round = new AbortController();
      try {
        if ((await say(line, round.signal)) === "exit") break;
      } catch (error) {
        if (ending)
          terminal.note("· Interrupted: what you said is kept, an unfinished answer is not.");
        else terminal.print(explainError(error), "red");
      }
    }
    ending = true;
  } finally {
    await close();
  }
} catch (error) {
  terminal.print(explainError(error), "red");
  process.exitCode = 1;
}
terminal.close();
