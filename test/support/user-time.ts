import fc from "fast-check";

/** What a user's clock and calendar show, as prompts have it: by Intl, not by the code under test. */
export function userTime(at: Date, timeZone: string) {
  const parts = new Intl.DateTimeFormat("en", {
    ...{ timeZone, weekday: "long", year: "numeric", month: "2-digit", day: "2-digit" },
    ...{ hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  } as const).formatToParts(at);
  const of = (type: string) => parts.find((part) => part.type === type)?.value ?? "";
  const day = `${of("year").padStart(4, "0")}-${of("month")}-${of("day")}`;
  const inWords = (dateStyle: "full" | "long") =>
    new Intl.DateTimeFormat("en-GB", { dateStyle, timeZone }).format(at);
  return {
    day,
    moment: `${day}, ${of("weekday")}, ${of("hour")}:${of("minute")}`,
    today: `Today is ${inWords("full")}.`,
    since: `(since ${inWords("long")})`,
  };
}

export const timeZones = fc.constantFrom(...Intl.supportedValuesOf("timeZone"));

export const timesBetween = (first: string, last: string) =>
  fc.date({ min: new Date(first), max: new Date(last), noInvalidDate: true });

/** The day before, of days as "2026-03-03". */
export const dayBefore = (day: string) =>
  new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10);
