import { Drawer, Portal } from "@chakra-ui/react";
import { useTexts } from "../../shared/texts.ts";
import { stayForToasts } from "../../ui/feedback/outside.ts";
import { Sidebar } from "./sidebar.tsx";

/** The sidebar of phones: a drawer that closes itself after a choice. */
export function MobileNav(props: { onClose(): void }) {
  const t = useTexts();
  return (
    <Drawer.Root
      open
      onOpenChange={(change) => !change.open && props.onClose()}
      onInteractOutside={stayForToasts}
      placement="start"
    >
      <Portal>
        <Drawer.Backdrop />
        <Drawer.Positioner>
          <Drawer.Content maxW="260px" aria-label={t("navigation")}>
            <Sidebar isCollapsed={false} onNavigate={props.onClose} />
          </Drawer.Content>
        </Drawer.Positioner>
      </Portal>
    </Drawer.Root>
  );
}
