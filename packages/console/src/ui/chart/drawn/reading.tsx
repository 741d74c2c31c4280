import { useLanguage } from "../../../lib/i18n.ts";
import { printStart } from "../time-labels.ts";
import type { ChartSeries, ChartSlot } from "../types.ts";

interface ReadingProps {
  readonly slot: ChartSlot;
  readonly series: readonly ChartSeries[];
  readonly total: number | undefined;
  /** Horizontal position of the slot, as a fraction of the width. */
  readonly left: number;
  print(value: number): string;
}

/** The value under the pointer or the arrow keys. */
export function Reading(props: ReadingProps) {
  const language = useLanguage();
  const { slot, total, print, left } = props;
  const shown = props.series
    .flatMap((series) => {
      const value = slot.values[series.key];
      return value === undefined || (total !== undefined && value === 0) ? [] : [{ series, value }];
    })
    .toSorted((a, b) => (total === undefined ? 0 : b.value - a.value));
  const side = left > 0.6 ? { right: `${(1 - left) * 100}%` } : { left: `${left * 100}%` };
  return (
    <div className="chart-reading" style={side} aria-hidden="true">
      <div className="chart-reading-head">
        <span>{printStart(slot.start, slot.end - slot.start, language)}</span>
        {total !== undefined && <strong>{print(total)}</strong>}
      </div>
      {shown.map(({ series, value }) => (
        <div key={series.key} className="chart-reading-row">
          <span className={`swatch ${series.colour}${series.isDashed ? " is-dashed" : ""}`} />
          <span className="cut">{series.label}</span>
          <span>{print(value)}</span>
        </div>
      ))}
    </div>
  );
}
