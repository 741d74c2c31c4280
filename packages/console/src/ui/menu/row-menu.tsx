import { Icon } from "../display/icon.tsx";
import { RowButton } from "../display/row-button.tsx";
import { useMenuButton } from "./menu-button.tsx";
import type { OpenMenu } from "./menu.ts";
import { useTexts } from "../texts.ts";

/** The `⋯` button of a row. */
export function RowMenu(props: { readonly name: string; readonly entries: OpenMenu["entries"] }) {
  const t = useTexts();
  const label = t("actionsOf", { name: props.name });
  return (
    <RowButton label={label} hasTip={false} data-row-menu="" {...useMenuButton({ label, entries: props.entries })}>
      <Icon name="dots" />
    </RowButton>
  );
}
