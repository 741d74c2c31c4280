import { Icon } from "../../../ui/display/icon.tsx";
import { formatCount } from "../../../lib/format.ts";
import { useLanguage } from "../../../lib/i18n.ts";
import { useTexts } from "../texts.ts";
import "./live.css";

/** Shows how many calls are waiting; a click adds them to the list. */
export function NewCalls(props: { readonly count: number; onShow(): void }) {
  const t = useTexts();
  const language = useLanguage();
  return (
    <div className="live-pill" role="status">
      {props.count > 0 && (
        <button type="button" onClick={props.onShow}>
          <Icon name="up" size={14} />
          {props.count === 1 ? t("newCall") : t("newCalls", { count: formatCount(props.count, language) })}
        </button>
      )}
    </div>
  );
}
