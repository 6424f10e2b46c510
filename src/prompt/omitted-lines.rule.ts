import type { Recalled } from "./recalled.js";

// What a prompt says of what it does not show.

export function omittedNotice(count: number, isLeast = false): string[] {
  if (count === 0 && !isLeast) return [];
  const one = count === 1 && !isLeast;
  const number = count === 0 ? "Some" : isLeast ? `More than ${count}` : `And ${count}`;
  return [
    `(${number} more ${one ? "memory is" : "memories are"} not shown here. If you have a tool to search memory, it finds them.)`,
  ];
}

/** Otherwise an agent takes the first message that it sees for the first one. */
export function omittedMessages({ messages }: NonNullable<Recalled["omitted"]>): string {
  return (
    `[${messages.toLocaleString("en")} earlier messages are not shown: they are too many, and no summary has them. ` +
    "They are kept, and a search of the transcript finds them.]"
  );
}
