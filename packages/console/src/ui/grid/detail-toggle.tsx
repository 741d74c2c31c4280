import { Icon } from "../display/icon.tsx";
import { IconButton } from "../display/icon-button.tsx";
import { useTexts } from "../texts.ts";

/** Unfolds and folds the detail of a row. */
export function DetailToggle(props: { readonly isOpen: boolean; onToggle(): void }) {
  const t = useTexts();
  return (
    <IconButton
      size="xs"
      hasTip={false}
      label={t(props.isOpen ? "hideDetail" : "showDetail")}
      aria-expanded={props.isOpen}
      onClick={props.onToggle}
    >
      <Icon name={props.isOpen ? "up" : "down"} size={15} />
    </IconButton>
  );
}
