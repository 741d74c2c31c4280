import { useLanguage } from "../../lib/i18n.ts";
import { printStart } from "./time-labels.ts";
import type { ChartProps, ChartSlot } from "./types.ts";

interface SinglePointProps extends Pick<ChartProps, "series" | "print" | "height" | "summary"> {
  readonly slot: ChartSlot;
}

/** Replaces a chart that has one point: its numbers, and their time. */
export function SinglePoint({ slot, series, print, height = 160, summary }: SinglePointProps) {
  const language = useLanguage();
  return (
    <div className="single-point" style={{ minHeight: height }} role="group" aria-label={summary}>
      <dl>
        {series.flatMap(({ key, label, colour }) => {
          const value = slot.values[key];
          return value === undefined
            ? []
            : [
                <div key={key}>
                  <dt>
                    <span className={`swatch ${colour}`} /> {label}
                  </dt>
                  <dd>{print(value)}</dd>
                </div>,
              ];
        })}
      </dl>
      <p className="soft">{printStart(slot.start, slot.end - slot.start, language)}</p>
    </div>
  );
}
