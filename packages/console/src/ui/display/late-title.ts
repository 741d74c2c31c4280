import type { PointerEvent } from "react";

/** A tooltip that is written when the pointer comes: for text that is dear to format and in every row of a table. */
export function lateTitle(write: () => string) {
  return {
    onPointerEnter: ({ currentTarget }: PointerEvent<HTMLElement>) => {
      currentTarget.title = write();
    },
  };
}
