import { AIMessage, HumanMessage } from "@langchain/core/messages";

/** A plain turn: a question and an answer with the ids `<name>-q` and `<name>-a`. */
export function round(name: string): [HumanMessage, AIMessage] {
  return [
    new HumanMessage({ id: `${name}-q`, content: `question of ${name}` }),
    new AIMessage({ id: `${name}-a`, content: `answer of ${name}` }),
  ];
}
