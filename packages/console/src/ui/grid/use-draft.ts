import { useEffect, useState } from "react";

/** How long a filter waits for more input. */
export const DEBOUNCE_MS = 250;

/** Returns the text of a filter while it is typed; the value follows after a pause. */
export function useDraft(value: string, onChange: (value: string) => void): [string, (draft: string) => void] {
  const [draft, setDraft] = useState(value);
  const [known, setKnown] = useState(value);
  if (known !== value) {
    // The address changed elsewhere: by Back, or by Clear.
    setKnown(value);
    if (draft.trim() !== value) setDraft(value);
  }
  useEffect(() => {
    const wanted = draft.trim();
    if (wanted === value) return;
    const timer = setTimeout(() => onChange(wanted), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [draft, value, onChange]);
  return [draft, setDraft];
}
