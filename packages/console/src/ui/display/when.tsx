import { toDate, formatExactTime, formatWhen } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { useNow } from "../../lib/now.ts";
import { lateTitle } from "./late-title.ts";

/** A point in time (Unix seconds): relative within a week, the date afterwards; the tooltip is exact. */
export function When(props: { readonly at: number }) {
  const language = useLanguage();
  const now = useNow();
  return (
    <time
      dateTime={toDate(props.at).toISOString()}
      style={{ whiteSpace: "nowrap" }}
      {...lateTitle(() => formatExactTime(props.at, language))}
    >
      {formatWhen(props.at, now, language)}
    </time>
  );
}
