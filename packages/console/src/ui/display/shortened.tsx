import { useState } from "react";
import { formatCount } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { useTexts } from "../texts.ts";
import "./shortened.css";

/** How many entries are shown before the rest is asked for. */
const USUAL_COUNT = 10;

/**
 * Returns the first entries of a list, and the button that shows the rest below them: a list that scrolled inside a
 * page that scrolls would take the wheel from it.
 */
export function useShortened<T>(entries: readonly T[], most = USUAL_COUNT) {
  const t = useTexts();
  const language = useLanguage();
  const [isWhole, setWhole] = useState(false);
  // The button saves no more than its own line otherwise.
  const isLong = entries.length > most + 1;
  return {
    shown: isLong && !isWhole ? entries.slice(0, most) : entries,
    more: isLong && (
      <button
        type="button"
        className="show-rest"
        aria-expanded={isWhole}
        onClick={(event) => {
          const button = event.currentTarget;
          setWhole(!isWhole);
          // The end of a long list is left behind when it becomes short.
          if (isWhole) requestAnimationFrame(() => button.scrollIntoView({ block: "nearest" }));
        }}
      >
        {isWhole ? t("showFewer") : t("showAll", { count: formatCount(entries.length, language) })}
      </button>
    ),
  };
}
