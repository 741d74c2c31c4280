import { useRef, useState, type FocusEvent, type KeyboardEvent, type PointerEvent, type RefObject } from "react";
import type { ChartProps, ChartSlot } from "../types.ts";
import type { Scales } from "./scales.ts";

interface PlotInput extends Pick<ChartProps, "slots" | "onOpen" | "onBrush"> {
  readonly frame: RefObject<HTMLDivElement | null>;
  readonly scales: Scales;
}

interface Press {
  readonly index: number;
  readonly x: number;
  readonly key: string | undefined;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** A press with less movement is a click. */
const DRAG_PX = 4;

const KEYS: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowRight: (at) => at + 1,
  ArrowUp: (at) => at + 1,
  ArrowLeft: (at) => at - 1,
  ArrowDown: (at) => at - 1,
  Home: () => 0,
  End: (_, last) => last,
};

function findBounds(slots: readonly ChartSlot[], { from, to }: Span): [number, number] | undefined {
  const first = slots[Math.min(from, to)];
  const last = slots[Math.max(from, to)];
  return first && last && [first.start, last.end - 1];
}

/** State that pointer and keyboard input share. */
interface PlotState extends PlotInput {
  readonly read: number | undefined;
  readonly brush: Span | undefined;
  setRead(index: number | undefined): void;
  setBrush(span: Span | undefined): void;
}

function finish({ slots, onBrush, setBrush }: PlotState, span: Span): void {
  const bounds = findBounds(slots, span);
  setBrush(undefined);
  if (bounds) onBrush?.(...bounds);
}

function keyHandler(state: PlotState) {
  const { slots, read, brush, setRead, setBrush } = state;
  const last = slots.length - 1;
  const enter = () => {
    const slot = read === undefined ? undefined : slots[Math.min(read, last)];
    if (brush) finish(state, brush);
    else if (slot) state.onOpen?.(slot, undefined);
  };
  return (event: KeyboardEvent) => {
    if (event.key === "Enter") return enter();
    if (event.key === "Escape" && brush) {
      event.stopPropagation();
      return setBrush(undefined);
    }
    const step = KEYS[event.key];
    if (!step || last < 0) return;
    event.preventDefault();
    const at = Math.min(read ?? last, last);
    const next = Math.max(0, Math.min(last, step(at, last)));
    setRead(next);
    setBrush(event.shiftKey && state.onBrush ? { from: brush?.from ?? at, to: next } : undefined);
  };
}

function pointerHandlers(state: PlotState, press: RefObject<Press | undefined>) {
  const { slots, frame, scales, brush, setRead, setBrush } = state;
  const readX = (event: PointerEvent) => event.clientX - (frame.current?.getBoundingClientRect().left ?? 0);
  return {
    onPointerDown(event: PointerEvent): void {
      const index = scales.indexAt(readX(event));
      if (index === undefined || event.button !== 0) return;
      const target = event.target instanceof Element ? event.target.closest<SVGElement>("[data-key]") : null;
      press.current = { index, x: readX(event), key: target?.dataset["key"] };
    },
    onPointerMove(event: PointerEvent): void {
      const x = readX(event);
      const started = press.current;
      const isDrag = started && state.onBrush && event.pointerType !== "touch" && Math.abs(x - started.x) > DRAG_PX;
      const index = scales.indexAt(isDrag ? Math.max(scales.plotLeft, Math.min(scales.plotRight, x)) : x);
      setRead(index);
      if (!isDrag || index === undefined) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      setBrush({ from: started.index, to: index });
    },
    onPointerUp(event: PointerEvent): void {
      const started = press.current;
      press.current = undefined;
      if (!started) return;
      if (brush) return finish(state, brush);
      const slot = slots[started.index];
      if (slot && Math.abs(readX(event) - started.x) <= DRAG_PX) state.onOpen?.(slot, started.key);
    },
    onPointerCancel(): void {
      press.current = undefined;
      setBrush(undefined);
    },
    onPointerLeave(): void {
      if (!press.current) setRead(undefined);
    },
  };
}

/** Handles reading, opening and selecting a span by pointer and by keyboard. */
export function usePlotInput(input: PlotInput) {
  const [read, setRead] = useState<number>();
  const [brush, setBrush] = useState<Span>();
  const press = useRef<Press>(undefined);
  const state: PlotState = { ...input, read, brush, setRead, setBrush };
  return {
    read,
    brush,
    handlers: {
      ...pointerHandlers(state, press),
      onKeyDown: keyHandler(state),
      onFocus(event: FocusEvent): void {
        if (event.currentTarget.matches(":focus-visible")) setRead(input.slots.length - 1);
      },
      onBlur(): void {
        setRead(undefined);
        setBrush(undefined);
      },
    },
  };
}
