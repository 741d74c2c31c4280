import type { PointerEvent } from "react";

/** Sets a tooltip when the pointer arrives, for text that is expensive to format and in every row of a table. */
export function lateTitle(write: () => string) {
  return {
    onPointerEnter: ({ currentTarget }: PointerEvent<HTMLElement>) => {
      currentTarget.title = write();
    },
  };
}
