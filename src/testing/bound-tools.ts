import type { BindToolsInput } from "@langchain/core/language_models/chat_models";

/** The name a bound tool has on the wire, whichever of the accepted shapes it came in. */
export function toolName(tool: BindToolsInput): string {
  const named = "function" in tool && isNamed(tool.function) ? tool.function : tool;
  if (isNamed(named)) return named.name;
  throw new TypeError(
    'A bound tool has no name: expected { name } or { type: "function", function: { name } }.',
  );
}

function isNamed(value: unknown): value is { name: string } {
  return typeof value === "object" && value !== null && "name" in value && typeof value.name === "string";
}

/** The tool that a `tool_choice` demands by name, if it does. */
export function demandedTool(toolChoice: unknown): string | undefined {
  if (typeof toolChoice === "string")
    return ["auto", "any", "none", "required"].includes(toolChoice) ? undefined : toolChoice;
  if (typeof toolChoice !== "object" || toolChoice === null) return undefined;
  const choice = "function" in toolChoice ? toolChoice.function : toolChoice;
  return isNamed(choice) ? choice.name : undefined;
}
