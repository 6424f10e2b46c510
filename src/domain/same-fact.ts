/** How a new statement stands to one that is stored already. */
export type SameFact =
  /** Two facts. */
  | "different"
  /** One fact, and the new statement adds nothing. */
  | "same"
  /** One fact, and the new statement is newer or says more: its wording should stand. */
  | "says_more";
