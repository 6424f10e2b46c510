import { isGraphBubbleUp } from "@langchain/langgraph";
import { type Failure, toFailure } from "./settle-failure.js";

/**
 * `step`'s update, or its error as state, so that a later node records it. Interrupts and other control flow of
 * LangGraph pass.
 */
export async function attemptStep<Update>(step: () => Promise<Update>): Promise<Update | { error: Failure }> {
  try {
    return await step();
  } catch (error) {
    if (isGraphBubbleUp(error)) throw error;
    return { error: toFailure(error) };
  }
}
