import { Icon } from "../display/icon.tsx";
import { MenuButton } from "./menu-button.tsx";
import type { OpenMenu } from "./menu.ts";
import { useTexts } from "../texts.ts";

/** The `⋯` of a row. */
export function RowMenu(props: { readonly name: string; readonly entries: OpenMenu["entries"] }) {
  const t = useTexts();
  return (
    <MenuButton size="xs" label={t("actionsOf", { name: props.name })} entries={props.entries} data-row-menu="">
      <Icon name="dots" />
    </MenuButton>
  );
}
