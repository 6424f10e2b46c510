import { expect, it } from "vitest";
import type { Scope } from "../../src/index.js";
import { restOn } from "../support/rests-on.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();

/** What changes, and what a person would doubt then: the second names nothing of the first. */
const pairs = `
Lives in Lisbon. > Moved to Berlin. > Commutes by tram 28.
Works at a bakery. > Works at a bank. > Gets up at four.
Is single. > Is married. > Lives alone.
Has a car. > Sold the car. > Drives to work.
Eats meat. > Is vegan. > Orders steak on Fridays.
Studies law. > Studies physics. > Reads court cases at night.
Has a dog. > The dog died. > Walks in the park each morning.
Plays in an orchestra. > Left the orchestra. > Rehearses on Tuesdays.
Rents a flat. > Bought a house. > Pays rent on the first.
Is pregnant. > Has a baby. > Sees the midwife monthly.
Works night shifts. > Works day shifts. > Sleeps until noon.
Lives by the sea. > Lives in the mountains. > Swims before breakfast.
Is a student. > Graduated. > Gets cheap train tickets.
Has a broken leg. > The leg healed. > Uses crutches.
Uses an Android phone. > Uses an iPhone. > Pays with Google Pay.
Drinks coffee. > Drinks no coffee. > Starts the day with an espresso.
Works from home. > Works in the office. > Has lunch in the kitchen.
Is a member of the gym. > Cancelled the gym. > Lifts weights on Mondays.
Learns French. > Learns Spanish. > Watches films of Truffaut.
Is a manager. > Is an engineer. > Leads the weekly meeting.
Lives with parents. > Lives in a shared flat. > Has dinner cooked by his mother.
Owns a boat. > Sold the boat. > Sails in August.
Trains for a marathon. > Gave up running. > Runs 60 km a week.
Is unemployed. > Found work. > Goes to the job centre.
Uses PostgreSQL 12. > Uses PostgreSQL 17. > Cannot use MERGE.
Deploys to Heroku. > Deploys to Fly. > Scales with dynos.
Writes Python. > Writes Rust. > Uses pip.
Takes warfarin. > Takes no warfarin. > Avoids spinach.
Is allergic to pollen. > The allergy is gone. > Stays in during May.
Has school-age children. > The children moved out. > Drives to school at eight.
Lives in the UK. > Lives in Spain. > Drives on the left.
Works for a French firm. > Works for a Danish firm. > Writes invoices in French.
Is on parental leave. > Is back at work. > Has time on weekday mornings.
Has a garden. > Moved to a flat without one. > Grows tomatoes.
Keeps bees. > Gave the bees away. > Sells honey.
Has a piano. > Sold the piano. > Plays Chopin after dinner.
Smokes. > Stopped smoking. > Takes breaks on the balcony.
Flies for work. > Travels no more. > Collects miles.
Is saving for a house. > Bought the house. > Puts aside 500 euros a month.
Wears glasses. > Had an eye operation. > Cleans lenses daily.
Lives in Tokyo. > Lives in Lima. > Calls home at 8 in the morning.
Coaches a team. > Left the team. > Is busy on Saturdays.
Has braces. > The braces are off. > Avoids nuts.
Uses Windows. > Uses a Mac. > Takes notes in Notepad.
Fasts in the morning. > Eats breakfast. > Has the first meal at noon.
Has a roommate. > The roommate left. > Shares the bills.
Is in a choir. > Left the choir. > Sings on Wednesdays.
Cares for her father. > The father is in a home. > Is home by five.
Rides a motorbike. > Sold the motorbike. > Wears a helmet to work.
Has a summer job. > The summer job ended. > Works at the pool.`
  .trim()
  .split("\n")
  .map((line) => line.split(" > ") as [string, string, string]);

it("Reaches none of 50 dependents that only a model could name, and all that were concluded from what ended", async () => {
  expect(pairs).toHaveLength(50);
  const memory = db.memory();
  const reached = { said: 0, concluded: 0 };
  for (const [place, [before, after, dependent]] of pairs.entries())
    for (const how of ["said", "concluded"] as const) {
      const scope: Scope = { userId: `${how} ${place}` };
      const slot = (text: string) => ({ text, category: "knowledge", key: "it", value: text });
      const [ended] = await memory.memories.add({ scope, memories: slot(before) });
      const kind = how === "said" ? ("fact" as const) : ("insight" as const);
      const [second] = await memory.memories.add({ scope, memories: { text: dependent, kind } });
      if (how === "concluded") await restOn(db, ended?.id, second?.id);
      await memory.memories.add({ scope, memories: slot(after) });
      const stored = await memory.memories.get({ scope, id: second?.id ?? "" });
      if (stored?.doubtedAt) reached[how]++;
    }
  expect(reached).toEqual({ said: 0, concluded: 50 });
});
