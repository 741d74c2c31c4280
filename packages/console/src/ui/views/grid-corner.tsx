import { Suspense, useId, useRef, useState, type ComponentProps } from "react";
import { Icon } from "../display/icon.tsx";
import { useTexts } from "../texts.ts";
import type { GridMenu } from "./grid-menu.tsx";
import { lateOverlay } from "../late/late.tsx";

const Menu = lateOverlay(async () => (await import("./grid-menu.tsx")).GridMenu);

const GAP = 4;

/** The button in the corner of a table, and the panel that it opens. */
export function GridCorner(props: ComponentProps<typeof GridMenu>) {
  const t = useTexts();
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const place = () => {
    const anchor = button.current?.getBoundingClientRect();
    if (!anchor || !panel.current) return;
    panel.current.style.top = `${anchor.bottom + GAP}px`;
    panel.current.style.right = `${document.documentElement.clientWidth - anchor.right}px`;
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        className="grid-corner"
        aria-label={t("columnsAndViews")}
        title={t("columnsAndViews")}
        aria-expanded={isOpen}
        popoverTarget={id}
      >
        <Icon name="settings" size={15} />
      </button>
      <div
        ref={panel}
        id={id}
        popover="auto"
        role="dialog"
        aria-label={t("columnsAndViews")}
        className="grid-menu"
        onBeforeToggle={(event) => event.newState === "open" && place()}
        onToggle={(event) => setOpen(event.newState === "open")}
      >
        <Suspense>{isOpen && <Menu {...props} />}</Suspense>
      </div>
    </>
  );
}
