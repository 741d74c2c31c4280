import { useLayoutEffect } from "react";
import { createStore } from "../../lib/store.ts";

/** How many parts of the page are placeholders for something that is loading. */
export const placeholders = createStore(0);

/** Counts the component as a placeholder while it is mounted. */
export function usePlaceholder(): void {
  useLayoutEffect(() => {
    placeholders.write(placeholders.read() + 1);
    return () => placeholders.write(placeholders.read() - 1);
  }, []);
}
