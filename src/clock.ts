/** The current time. Without one, the database's own clock decides, which all machines share. */
export type Clock = () => Date;

/** The longest that Node's timers wait: 2³¹ − 1 ms, some 25 days. More is taken for 1 ms. */
export const longestTimerMs = 2_147_483_647;

export const dayMs = 86_400_000;

/** A hundred years: the longest of the spans that dates are reckoned with, so that these stay within their range. */
export const longestSpanMs = 3_155_760_000_000;
