import { useRef, type ComponentProps, type KeyboardEvent } from "react";
import { useStore } from "../../lib/store.ts";
import { IconButton } from "../display/icon-button.tsx";
import { menu, type OpenMenu } from "./menu.ts";

/** Returns the properties that make a button open a menu. */
export function useMenuButton({ label, entries, heading }: Omit<OpenMenu, "anchor">) {
  const ref = useRef<HTMLButtonElement>(null);
  const isOpen = useStore(menu)?.anchor === ref.current && ref.current !== null;
  const open = () => {
    if (ref.current) menu.write({ anchor: ref.current, label, entries, heading });
  };
  return {
    ref,
    "aria-haspopup": "menu",
    "aria-expanded": isOpen,
    onClick: open,
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== "ArrowDown") return;
      event.preventDefault();
      event.stopPropagation();
      open();
    },
  } as const;
}

type MenuButtonProps = Omit<OpenMenu, "anchor"> & Omit<ComponentProps<typeof IconButton>, "hasTip">;

/** A button that opens a menu. */
export function MenuButton({ label, entries, heading, children, ...rest }: MenuButtonProps) {
  return (
    <IconButton label={label} hasTip={false} {...useMenuButton({ label, entries, heading })} {...rest}>
      {children}
    </IconButton>
  );
}
