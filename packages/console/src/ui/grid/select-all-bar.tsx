import { formatCount } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { useTexts } from "../texts.ts";
import type { Selection } from "./grid-props.ts";

interface SelectAllBarProps {
  readonly selection: Selection | undefined;
  /** Rows of the page. */
  readonly shown: number;
}

/** Lets the user select the rows of the other pages, once all rows of this one are selected. */
export function SelectAllBar({ selection, shown }: SelectAllBarProps) {
  const t = useTexts();
  const language = useLanguage();
  if (!selection || shown === 0 || selection.ids.size < shown) return null;
  const { everything } = selection;
  if (selection.isBeyondPage) {
    return (
      <div className="grid-note" role="status">
        {t("allSelected", { count: formatCount(selection.ids.size, language) })}
      </div>
    );
  }
  if (!everything) return null;
  return (
    <div className="grid-note" role="status">
      {t("pageSelected", { count: formatCount(shown, language) })}
      <button type="button" className="grid-note-action" disabled={everything.isLoading} onClick={everything.select}>
        {t(everything.isLoading ? "loading" : "selectMatching", { count: formatCount(everything.count, language) })}
      </button>
    </div>
  );
}
