import { useRef, type ComponentProps } from "react";
import { useStore } from "../../lib/store.ts";
import { IconButton } from "../display/icon-button.tsx";
import { menu, type OpenMenu } from "./menu.ts";

type MenuButtonProps = Omit<OpenMenu, "anchor"> & Omit<ComponentProps<typeof IconButton>, "hasTip">;

/** A button that opens a menu. */
export function MenuButton({ label, entries, heading, children, ...rest }: MenuButtonProps) {
  const button = useRef<HTMLButtonElement>(null);
  const isOpen = useStore(menu)?.anchor === button.current && button.current !== null;
  const open = () => {
    if (button.current) menu.write({ anchor: button.current, label, entries, heading });
  };
  return (
    <IconButton
      ref={button}
      label={label}
      hasTip={false}
      aria-haspopup="menu"
      aria-expanded={isOpen}
      onClick={open}
      onKeyDown={(event) => {
        if (event.key !== "ArrowDown") return;
        event.preventDefault();
        event.stopPropagation();
        open();
      }}
      {...rest}
    >
      {children}
    </IconButton>
  );
}
