import { useEffect, useRef, type RefObject } from "react";

const CONTROLS = "a[href], button, input, select, textarea, [tabindex]";

function listRows(body: HTMLElement): HTMLElement[] {
  return [...body.querySelectorAll<HTMLElement>(".grid-row")];
}

export function listControls(row: HTMLElement): HTMLElement[] {
  return [...row.querySelectorAll<HTMLElement>(CONTROLS)].filter(
    (one) => !one.matches(":disabled") && one.offsetParent !== null,
  );
}

export function readIndex(row: HTMLElement): number {
  return Number(row.dataset["index"]);
}

/**
 * Makes the rows one tab stop: the row that had the focus last, otherwise the first. The controls of rows are reached
 * with arrow keys. Cells can rerender at any time, so this follows the document and not React.
 */
export function useRoving(body: RefObject<HTMLElement | null>, isOn: boolean): void {
  const active = useRef(0);
  useEffect(() => {
    const element = body.current;
    if (!element || !isOn) return;
    const settle = () => {
      const rows = listRows(element);
      const stop = rows.find((row) => readIndex(row) === active.current) ?? rows[0];
      for (const row of rows) {
        setStop(row, row === stop ? 0 : -1);
        for (const control of row.querySelectorAll<HTMLElement>(CONTROLS)) setStop(control, -1);
      }
    };
    const follow = ({ target }: FocusEvent) => {
      const row = target instanceof Element ? target.closest<HTMLElement>(".grid-row") : null;
      if (!row || readIndex(row) === active.current) return;
      active.current = readIndex(row);
      settle();
    };
    settle();
    const observer = new MutationObserver(settle);
    observer.observe(element, { childList: true, subtree: true });
    element.addEventListener("focusin", follow);
    return () => {
      observer.disconnect();
      element.removeEventListener("focusin", follow);
    };
  }, [body, isOn]);
}

function setStop(element: HTMLElement, value: 0 | -1): void {
  if (element.tabIndex !== value || !element.hasAttribute("tabindex")) element.tabIndex = value;
}
