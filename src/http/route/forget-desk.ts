import { MemoryError, messageOf } from "../../errors.js";
import type { ForgetProgress } from "../../forgetting/erase-scope.js";
import type { Memory } from "../../memory.js";
import type { Scope } from "../../scope/scope.js";
import { type Problem, problemOf } from "./problem.js";

/** How far the forgetting of a scope has come. */
interface ForgetState {
  /** "none": this process was not asked for it since it began. */
  readonly state: "running" | "done" | "failed" | "none";
  /** Rows gone by now, and rows there were. */
  readonly done: number;
  readonly total: number;
  readonly problem: Problem | null;
}

/** Forgets scopes after the answer, and tells how far that has come. */
export interface ForgetDesk {
  /** Begins to forget a scope; joins in where that is under way. */
  start(memory: Memory, scope: Scope, signal: AbortSignal | undefined): ForgetState;
  state(scope: Scope): ForgetState;
}

const incomplete = () => new MemoryError("FORGET_INCOMPLETE", "Others kept writing: ask for it again.");

/** How many scopes' ends are remembered, for those who ask afterwards. */
const mostRemembered = 1_000;

/**
 * A desk of one process. What it knows is lost with it, and nothing else is: what is being forgotten stays findable, so
 * that the next request finishes it.
 */
export function createForgetDesk(report: (message: string) => void): ForgetDesk {
  const states = new Map<string, ForgetState>();
  const remember = (key: string, state: ForgetState) => {
    states.delete(key);
    states.set(key, state);
    for (const [other, { state }] of states) {
      if (states.size <= mostRemembered) return;
      if (state !== "running") states.delete(other);
    }
  };
  const forget = async (memory: Memory, scope: Scope, key: string, signal: AbortSignal | undefined) => {
    const onProgress = ({ done, total }: ForgetProgress) => {
      remember(key, { state: "running", done, total, problem: null });
    };
    try {
      const { complete, total } = await memory.forget(scope, { onProgress, ...(signal && { signal }) });
      const { problem } = problemOf(incomplete());
      remember(key, {
        state: complete ? "done" : "failed",
        done: total,
        total,
        problem: complete ? null : problem,
      });
    } catch (error) {
      report(`a scope could not be forgotten: ${messageOf(error)}`);
      const { done = 0, total = 0 } = states.get(key) ?? {};
      remember(key, { state: "failed", done, total, problem: problemOf(error).problem });
    }
  };
  return {
    start(memory, scope, signal) {
      const key = keyOf(scope);
      const known = states.get(key);
      if (known?.state === "running") return known;
      const begun: ForgetState = { state: "running", done: 0, total: 0, problem: null };
      remember(key, begun);
      void forget(memory, scope, key, signal);
      return begun;
    },
    state: (scope) => states.get(keyOf(scope)) ?? { state: "none", done: 0, total: 0, problem: null },
  };
}

function keyOf({ tenantId, userId, appId }: Scope): string {
  return JSON.stringify([tenantId ?? null, userId ?? null, appId ?? null]);
}
