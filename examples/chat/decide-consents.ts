import type { ConsentRequest } from "mnemograph";
import type { Conversation } from "./conversation.js";
import { explainError } from "./explain-error.js";

/** Asks the user about each thing that waits for consent, and does as the user says. */
export async function decideConsents(conversation: Conversation): Promise<void> {
  const { memory, scope, terminal } = conversation;
  // What is being made of the last words comes first.
  await memory.idle();
  const requests = await memory.consents.list({ scope, rule: "consent" });
  if (requests.length === 0) return terminal.print("Nothing waits for your consent.");
  for (const [index, request] of requests.toReversed().entries()) {
    terminal.print(`${index + 1} of ${requests.length}: ${described(request)}`);
    const decision = await askFor(conversation);
    if (decision === null) return;
    if (decision === "later") continue;
    try {
      await memory.consents.decide({
        scope,
        id: request.id,
        decision,
        actor: scope.userId,
        via: "chat",
      });
      terminal.print(decision === "approve" ? "Remembered." : "It will not be remembered.");
    } catch (error) {
      // Somebody else decided meanwhile, or it expired.
      terminal.print(explainError(error), "yellow");
    }
  }
}

function described({ key, value, text, current, source }: ConsentRequest): string {
  const what = key === null ? text : `${key.replaceAll("_", " ")}: ${value ?? text}`;
  const now = current === null ? "" : ` (now: ${current})`;
  const quote = source?.quote ? `, since you said “${source.quote}”` : "";
  return `${what}${now}${quote}`;
}

/** Null when the input has ended. */
async function askFor({ terminal }: Conversation): Promise<"approve" | "refuse" | "later" | null> {
  for (;;) {
    const answer = await terminal.read("Remember it? yes, no or later: ");
    if (answer === null) return null;
    const word = answer.trim().toLowerCase();
    if (["y", "yes"].includes(word)) return "approve";
    if (["n", "no"].includes(word)) return "refuse";
    if (["", "l", "later"].includes(word)) return "later";
  }
}
