import { useEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import "./tip.css";

const DELAY_MS = 350;
const GAP = 6;
const MARGIN = 8;

interface Shown {
  readonly text: string;
  readonly anchor: DOMRect;
  readonly side: string;
}

function findAnchor(event: Event): HTMLElement | undefined {
  const found = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-tip]") : null;
  return found ?? undefined;
}

function read(element: HTMLElement): Shown {
  const { tip = "", tipSide = "bottom" } = element.dataset;
  return { text: tip, anchor: element.getBoundingClientRect(), side: tipSide };
}

/** Follows pointer and focus over the whole document; one tooltip is open at a time. */
function useShown(): Shown | undefined {
  const [shown, setShown] = useState<Shown>();
  useEffect(() => {
    let timer = 0;
    const hide = () => {
      clearTimeout(timer);
      setShown(undefined);
    };
    const enter = (event: Event) => {
      if (event instanceof PointerEvent && event.pointerType !== "mouse") return;
      const anchor = findAnchor(event);
      hide();
      if (anchor) timer = window.setTimeout(() => anchor.isConnected && setShown(read(anchor)), DELAY_MS);
    };
    const focus = (event: Event) => {
      const anchor = findAnchor(event);
      if (anchor?.matches(":focus-visible")) setShown(read(anchor));
    };
    const escape = (event: KeyboardEvent) => event.key === "Escape" && hide();
    const controller = new AbortController();
    const options = { signal: controller.signal, capture: true };
    document.addEventListener("pointerover", enter, options);
    document.addEventListener("focusin", focus, options);
    document.addEventListener("focusout", hide, options);
    document.addEventListener("pointerdown", hide, options);
    document.addEventListener("scroll", hide, options);
    document.addEventListener("keydown", escape, options);
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, []);
  return shown;
}

/** Every tooltip of the console, rendered once in the application. */
export function TipLayer() {
  const shown = useShown();
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current;
    if (!element || !shown) return;
    const { anchor, side } = shown;
    const { width, height } = element.getBoundingClientRect();
    const isRight = side === "right";
    const left = isRight ? anchor.right + GAP : anchor.left + anchor.width / 2 - width / 2;
    const top = isRight ? anchor.top + anchor.height / 2 - height / 2 : anchor.bottom + GAP;
    const isBelowFold = top + height > innerHeight - MARGIN;
    element.style.left = `${Math.max(MARGIN, Math.min(left, innerWidth - width - MARGIN))}px`;
    element.style.top = `${isBelowFold ? anchor.top - height - GAP : top}px`;
  }, [shown]);
  if (!shown) return null;
  return createPortal(
    <div ref={box} className="tip" aria-hidden="true">
      {shown.text}
    </div>,
    document.body,
  );
}
