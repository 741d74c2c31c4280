import { useLayoutEffect } from "react";
import { createStore } from "../../lib/store.ts";

/** How many parts of the page hold the place of something that is on its way. */
export const placeholders = createStore(0);

/** Counts the component among them as long as it is mounted. */
export function usePlaceholder(): void {
  useLayoutEffect(() => {
    placeholders.write(placeholders.read() + 1);
    return () => placeholders.write(placeholders.read() - 1);
  }, []);
}
