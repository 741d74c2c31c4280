import type { DialogRootProps } from "@chakra-ui/react";

type Outside = Parameters<NonNullable<DialogRootProps["onInteractOutside"]>>[0];

/** A dialog stays open when a toast next to it is clicked. */
export function stayForToasts(event: Outside): void {
  const { target } = event.detail;
  if (target instanceof Element && target.closest("[data-toast]")) event.preventDefault();
}
