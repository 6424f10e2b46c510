import { AIMessage, HumanMessage } from "@langchain/core/messages";

/** A plain round: `<name>-q` and `<name>-a`, ids included. */
export function round(name: string): [HumanMessage, AIMessage] {
  return [
    new HumanMessage({ id: `${name}-q`, content: `question of ${name}` }),
    new AIMessage({ id: `${name}-a`, content: `answer of ${name}` }),
  ];
}
