import { BaseStore, type Operation, type OperationResults } from "@langchain/langgraph-checkpoint";
import type { Scope } from "../scope/scope.js";
import { type LangGraphStore, type StoreInput, scopeOfStore } from "./langgraph-store.js";
import { parseOperation } from "./store-operation.js";
import { storeOptionsSchema } from "./store-options.js";

/** The store of one cell. */
export interface StoreCell {
  readonly cell: number;
  /** @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED` */
  store(): LangGraphStore;
  run<Result>(work: (store: LangGraphStore) => Promise<Result>): Promise<Result>;
}

/**
 * A store for LangGraph over several cells: each operation goes to the cell of the scope that its namespace has. What is of no
 * scope is in the first cell.
 *
 * @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`
 */
export function celledStore(
  input: StoreInput = {},
  defaultScope: Scope | null,
  cellOf: (scope: Scope | null) => StoreCell,
): LangGraphStore {
  // Checks the input.
  cellOf(null).store();
  return new CelledStore((operation) => {
    const { namespace } = parseOperation(operation, storeOptionsSchema.parse({}));
    return cellOf(scopeOfStore(input, input.scope, defaultScope)(namespace));
  });
}

class CelledStore extends BaseStore implements LangGraphStore {
  readonly #cellOf: (operation: Operation) => StoreCell;

  constructor(cellOf: (operation: Operation) => StoreCell) {
    super();
    this.#cellOf = cellOf;
  }

  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const groups = new Map<number, { readonly in: StoreCell; readonly of: number[] }>();
    for (const [n, operation] of operations.entries()) {
      const place = this.#cellOf(operation);
      const group = groups.get(place.cell) ?? { in: place, of: [] };
      groups.set(place.cell, group);
      group.of.push(n);
    }
    const results: unknown[] = [];
    for (const { in: place, of } of groups.values()) {
      const found = await place.run((store) => store.batch(of.map((n) => operations[n] as Operation)));
      for (const [index, n] of of.entries()) results[n] = found[index];
    }
    return results as OperationResults<Op>;
  }

  // LangGraph's own refuses namespaces with a full stop.
  override async put(
    ...[namespace, key, value, index, options]: Parameters<LangGraphStore["put"]>
  ): Promise<void> {
    const operation = {
      ...{ namespace, key, value },
      ...(index !== undefined && { index }),
      ...(options && { options }),
    };
    await this.batch([operation]);
  }
}
