import { Box, Menu, Portal } from "@chakra-ui/react";
import { useStore } from "../../lib/store.ts";
import { Icon } from "../display/icon.tsx";
import { menu, type MenuEntry, type OpenMenu } from "./menu.ts";

function Item({ entry }: { readonly entry: MenuEntry }) {
  const color = entry.isDangerous ? "fg.error" : "fg.muted";
  return (
    <Menu.Item value={entry.id} color={entry.isDangerous ? "fg.error" : "fg"} onSelect={() => entry.run()}>
      {entry.icon && (
        <Box as="span" color={color} display="inline-flex">
          <Icon name={entry.icon} size={15} />
        </Box>
      )}
      {entry.label}
    </Menu.Item>
  );
}

function Opened({ opened }: { readonly opened: OpenMenu }) {
  const close = () => {
    menu.write(undefined);
    // An entry may have moved the focus, for example into a dialog; then it stays there.
    if (document.activeElement === document.body || document.activeElement?.closest('[role="menu"]'))
      opened.anchor.focus();
  };
  return (
    <Menu.Root
      open
      onOpenChange={(change) => !change.open && close()}
      aria-label={opened.label}
      positioning={{ placement: "bottom-end", getAnchorRect: () => opened.anchor.getBoundingClientRect() }}
    >
      <Portal>
        <Menu.Positioner>
          <Menu.Content>
            {opened.heading}
            {opened.entries.map((entry, index) =>
              entry === undefined ? <Menu.Separator key={`line-${index}`} /> : <Item key={entry.id} entry={entry} />,
            )}
          </Menu.Content>
        </Menu.Positioner>
      </Portal>
    </Menu.Root>
  );
}

/** The one menu of the console. */
export function MenuHost() {
  const opened = useStore(menu);
  return opened ? <Opened key={opened.label} opened={opened} /> : null;
}
