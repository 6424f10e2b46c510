const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** `id` where it is a UUID, to be compared as one; null for any other text, which is the id of nothing. */
export function uuidOf(id: string): string | null {
  return uuid.test(id) ? id : null;
}
