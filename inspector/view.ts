import type { ComponentType } from "preact";
import type { Place } from "./place.js";

/** What a view is given. */
export interface ViewProps {
  readonly place: Place;
  /** Whether whoever looks is an operator; a user sees their own memory. */
  readonly isOperator: boolean;
}

/** A view of the page. */
export interface View {
  readonly name: string;
  /** Whether somebody's memory has to be named first. @default everybody's can be shown */
  readonly needsWhose?: true;
  /** Whether only operators have it. */
  readonly operators?: true;
  /** The view whose tab it belongs to. @default it has one of its own */
  readonly tab?: string;
  readonly show: ComponentType<ViewProps>;
}
