import { column, type Time } from "../../postgres/columns.js";
import type { MemorySource } from "../item/memory.js";
import type { ConsentRule } from "./consent-policy.js";
import type { ConsentEvidence, ConsentSignal, ConsentStatus, ConsentVia } from "./consent-request.js";

/** The memory that a request would become, as JSON: a `MemoryDraft` whose times are text. */
export interface StoredDraft {
  readonly text: string;
  readonly value?: string | undefined;
  readonly source?: MemorySource | undefined;
  readonly validFrom?: Date | string | undefined;
}

/** The columns of `consent_request` but its refs: what is inserted, read, exported and imported is made of them. */
export const consentColumns = {
  id: column.uuid("id"),
  tenantId: column.text("tenant_id"),
  userId: column.text("user_id"),
  appId: column.text("app_id"),
  rule: column.text<ConsentRule>("rule"),
  category: column.text("category"),
  key: column.text<string | null>("key"),
  /** What it is about: the slot, or the statement itself where there is none. */
  slot: column.text("slot"),
  /** What makes two proposals for a slot the same. */
  normalValue: column.text("normal_value"),
  contentHash: column.text("content_hash"),
  draft: column.json<StoredDraft>("draft"),
  status: column.text<ConsentStatus>("status"),
  seenCount: column.integer("seen_count"),
  signals: column.json<readonly ConsentSignal[]>("signals"),
  proposedBy: column.text("proposed_by"),
  memoryId: column.uuid<string | null>("memory_id"),
  createdAt: column.time("created_at"),
  expiresAt: column.time("expires_at"),
  askAt: column.time("ask_at"),
  decidedAt: column.time<Time | null>("decided_at"),
  decidedBy: column.text<string | null>("decided_by"),
  decidedVia: column.text<ConsentVia | null>("decided_via"),
  evidence: column.json<ConsentEvidence | null>("evidence"),
  revision: column.bigint("revision"),
};
