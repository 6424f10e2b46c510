import { rareWord, reader, readerThread } from "./load-inspected.js";

/** A page of the inspector, and what shows that it is there. */
export interface InspectedPage {
  readonly name: string;
  /** The fragment of its address. */
  readonly place: string;
  /** Whether its tab leads to it. */
  readonly isStart: boolean;
  /** The button that is clicked once it is there. */
  readonly click?: string;
  /** Text that it has. */
  readonly text: string;
  /** The view that it has links to, and at least how many. */
  readonly links?: readonly [view: string, atLeast: number];
}

const start = (name: string, text: string, links?: InspectedPage["links"]): InspectedPage => ({
  name,
  place: name,
  isStart: true,
  text,
  ...(links && { links }),
});

const further = (
  name: string,
  place: string,
  text: string,
  links?: InspectedPage["links"],
): InspectedPage => ({ name, place, isStart: false, text, ...(links && { links }) });

/** @param memory the id of a memory of the reader's */
export function pagesOf(memory: string): InspectedPage[] {
  const user = `user=${reader}`;
  const pickers = (name: string) => start(name, "Choose a user or an app", [name, 50]);
  return [
    start("overview", "Latest conversations", ["thread", 6]),
    start("threads", "Conversations", ["thread", 50]),
    start("memories", "1 to 60 of more than 10,000", ["memory", 60]),
    start("waiting", "503: overloaded", ["memory", 25]),
    start("costs", "By user", ["costs", 20]),
    pickers("question"),
    pickers("changes"),
    start("forgotten", "Asked to forget", ["memories", 20]),
    pickers("erase"),
    start("settings", "Settings"),
    { ...further("owner picker", "overview", "Latest conversations"), click: "Whose: everyone" },
    further("overview of a user", `overview?${user}`, reader, ["thread", 6]),
    further("threads of a user", `threads?${user}`, reader, ["thread", 20]),
    further("ended threads", "threads?state=ended", "No conversation is like that."),
    further("failed threads", "threads?state=failed", "failed", ["thread", 5]),
    further("threads of an app", "threads?app=mail", "mail", ["thread", 50]),
    further("words said", `threads?said=${rareWord}`, rareWord, ["thread", 1]),
    further(
      "thread",
      `thread?${user}&app=mail&thread=${readerThread}`,
      `Where is the ${rareWord}?`,
    ),
    further("memories of a user", `memories?${user}`, "1 to 60 of 2,000", ["memory", 60]),
    further("memories with words", "memories?words=(49999)", "1 to 1 of 1", ["memory", 1]),
    further("memories by importance", "memories?sort=importance", "1 to 60 of", ["memory", 60]),
    further("memories in use", "memories?sort=used", "1 to 60 of", ["memory", 60]),
    further("changed memories", "memories?sort=updated", "1 to 60 of", ["memory", 60]),
    further("oldest memories", "memories?sort=oldest", "1 to 60 of", ["memory", 60]),
    further("former values", "memories?state=superseded", "1 to 60 of 1,000", ["memory", 60]),
    further("forgotten memories", "memories?state=soft_deleted", "1 to 60 of", ["memory", 60]),
    further("merged memories", "memories?state=merged", "No memory is like that."),
    further("memories in any state", "memories?state=any", "1 to 60 of", ["memory", 60]),
    further("notes", "memories?kind=note", "No memory is like that."),
    further("a category", "memories?category=projects", "1 to 60 of", ["memory", 60]),
    further("a key", "memories?key=city", "No memory is like that."),
    further("memory", `memory?${user}&id=${memory}`, "(0)"),
    further("waits for a user", `waiting?${user}`, reader),
    further("costs of a user", `costs?${user}&days=30`, "By kind of work"),
    further("question", `question?${user}&question=What+did+the+user+buy%3F`, "user", [
      "memory",
      1,
    ]),
    further("changes", `changes?${user}`, "created", ["memory", 50]),
    further("export & delete", `erase?${user}`, `Everything that is kept of ${reader}`),
  ];
}
