import { useState } from "react";
import { orderAfter, type Pane, type Remembered, type SpanKey } from "./choice.ts";

export interface Choice {
  readonly remembered: Remembered;
  /** The user is typing a filter. */
  readonly isTyping: boolean;
  readonly isHelp: boolean;
  readonly detailId: number | undefined;
  slowDown(seconds: number): void;
  sum(key: SpanKey): void;
  nextOrder(): void;
  type(change: (before: string) => string): void;
  search(isOn: boolean): void;
  help(isOn: boolean): void;
  open(id: number | undefined): void;
  show(pane: Pane): void;
  choose(change: (before: number) => number): void;
}

export function useChoice(start: Remembered): Choice {
  const [remembered, set] = useState(start);
  const [isTyping, search] = useState(false);
  const [isHelp, help] = useState(false);
  const [detailId, open] = useState<number>();
  const change = (next: (before: Remembered) => Partial<Remembered>) =>
    set((before) => ({ ...before, ...next(before) }));
  return {
    remembered,
    isTyping,
    isHelp,
    detailId,
    search,
    help,
    open,
    slowDown: (seconds) => change(({ intervalMs }) => ({ intervalMs: Math.max(1_000, intervalMs + seconds * 1_000) })),
    sum: (span) => change(() => ({ span })),
    nextOrder: () => change(({ order }) => ({ order: orderAfter(order) })),
    type: (next) => change(({ filter }) => ({ filter: next(filter) })),
    show: (pane) => change(() => ({ pane })),
    choose: (next) => change(({ chosen }) => ({ chosen: next(chosen) })),
  };
}
