import { Icon } from "../display/icon.tsx";
import { RowButton } from "../display/row-button.tsx";
import { useTexts } from "../texts.ts";

/** Expands and collapses the detail of a row. */
export function DetailToggle(props: { readonly isOpen: boolean; onToggle(): void }) {
  const t = useTexts();
  return (
    <RowButton
      hasTip={false}
      label={t(props.isOpen ? "hideDetail" : "showDetail")}
      aria-expanded={props.isOpen}
      onClick={props.onToggle}
    >
      <Icon name={props.isOpen ? "up" : "down"} size={15} />
    </RowButton>
  );
}
