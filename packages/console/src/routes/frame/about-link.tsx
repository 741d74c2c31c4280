import { Link } from "react-router";
import { Icon } from "../../ui/display/icon.tsx";
import { IconButton } from "../../ui/display/icon-button.tsx";
import { useTexts } from "../../shared/texts.ts";

export function AboutLink(props: { onNavigate?(): void }) {
  const t = useTexts();
  return (
    <IconButton asChild label={t("about")}>
      <Link to="/about" onClick={() => props.onNavigate?.()}>
        <Icon name="info" />
      </Link>
    </IconButton>
  );
}
