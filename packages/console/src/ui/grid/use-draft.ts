import { useEffect, useRef, useState } from "react";

/** How long a filter waits for more input. */
export const DEBOUNCE_MS = 250;

interface Draft {
  readonly draft: string;
  setDraft(draft: string): void;
  /** Applies the text at once, for Enter and when the field loses the focus. */
  apply(): void;
}

/** Manages the text of a filter while it is typed; the value follows after a pause. */
export function useDraft(value: string, onChange: (value: string) => void): Draft {
  const [draft, setDraft] = useState(value);
  const [known, setKnown] = useState(value);
  /** What was applied and has not arrived as the value yet, oldest first. */
  const [sent, setSent] = useState<readonly string[]>([]);
  if (known !== value) {
    setKnown(value);
    const at = sent.lastIndexOf(value);
    setSent(at < 0 ? [] : sent.slice(at + 1));
    // The address changed elsewhere, by Back or by Clear. What this field applied may arrive after further input.
    if (at < 0 && draft.trim() !== value) setDraft(value);
  }
  const wanted = draft.trim();
  const isApplied = wanted === (sent.at(-1) ?? value);
  const apply = () => {
    if (isApplied) return;
    setSent([...sent, wanted]);
    onChange(wanted);
  };
  const applyLatest = useRef(apply);
  useEffect(() => {
    applyLatest.current = apply;
  });
  useEffect(() => {
    if (isApplied) return;
    const timer = setTimeout(() => applyLatest.current(), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [wanted, isApplied]);
  return { draft, setDraft, apply };
}
