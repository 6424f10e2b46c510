/**
 * Whether PostgreSQL can hold `text` as it is: no NUL characters, no halves of surrogate pairs.
 *
 * Ids must be: NUL is refused, and every lone half becomes U+FFFD, so that two different ids would meet.
 */
export function isStorable(text: string): boolean {
  return !text.includes("\u0000") && !/\p{Surrogate}/u.test(text);
}
