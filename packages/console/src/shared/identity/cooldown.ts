import { useEffect, useState } from "react";

/** The least time between two mails to one visitor. */
const COOLDOWN_SECONDS = 30;

/** Returns the seconds until the button may be used again, counted down after `start`. */
export function useCooldown(): { readonly wait: number; start(): void; end(): void } {
  const [wait, setWait] = useState(0);
  useEffect(() => {
    if (wait === 0) return;
    const timer = setTimeout(() => setWait(wait - 1), 1_000);
    return () => clearTimeout(timer);
  }, [wait]);
  return { wait, start: () => setWait(COOLDOWN_SECONDS), end: () => setWait(0) };
}
