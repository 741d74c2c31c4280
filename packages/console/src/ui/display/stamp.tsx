import { toDate, formatExactTime, formatStamp } from "../../lib/format.ts";
import { currentLanguage } from "../../lib/i18n.ts";
import { lateTitle } from "./late-title.ts";

/** A point in time (Unix seconds) to the second, for dense columns; 0 is a dash. */
export function Stamp(props: { readonly at: number }) {
  if (props.at <= 0) return <span className="soft">–</span>;
  return (
    <time
      className="nowrap"
      dateTime={toDate(props.at).toISOString()}
      {...lateTitle(() => formatExactTime(props.at, currentLanguage()))}
    >
      {formatStamp(props.at)}
    </time>
  );
}
