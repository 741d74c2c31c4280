import { useEffect, useRef, useState, type KeyboardEvent } from "react";

interface InlineNumberProps {
  readonly value: number;
  readonly least: number;
  /** Read aloud on the button that starts the edit. */
  readonly label: string;
  onSave(value: number): void;
}

/** A number in a cell: click or Enter edits it, arrows step, Escape and an empty text restore it. */
export function InlineNumber(props: InlineNumberProps) {
  const [draft, setDraft] = useState<string>();
  const button = useRef<HTMLButtonElement>(null);
  const isByKey = useRef(false);
  useEffect(() => {
    if (draft !== undefined || !isByKey.current) return;
    isByKey.current = false;
    button.current?.focus();
  }, [draft]);
  if (draft === undefined) {
    return (
      <button
        ref={button}
        type="button"
        className="inline-number"
        aria-label={props.label}
        onClick={() => setDraft(String(props.value))}
      >
        {props.value}
      </button>
    );
  }
  const finish = () => {
    setDraft(undefined);
    const wanted = Math.max(props.least, Math.trunc(Number(draft)));
    if (draft.trim() !== "" && Number.isFinite(wanted) && wanted !== props.value) props.onSave(wanted);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation();
    isByKey.current = event.key === "Enter" || event.key === "Escape";
    // The same key press would activate the button that gets the focus.
    if (isByKey.current) event.preventDefault();
    if (event.key === "Enter") finish();
    else if (event.key === "Escape") setDraft(undefined);
    else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      event.preventDefault();
      const step = (event.key === "ArrowUp" ? 1 : -1) * (event.shiftKey ? 10 : 1);
      setDraft(String(Math.max(props.least, (Number(draft) || 0) + step)));
    }
  };
  return (
    <input
      className="inline-number-input"
      aria-label={props.label}
      inputMode="numeric"
      value={draft}
      autoFocus
      onFocus={(event) => event.target.select()}
      onChange={(event) => setDraft(event.target.value)}
      onBlur={finish}
      onKeyDown={onKeyDown}
    />
  );
}
