import { useLanguage } from "../../../lib/i18n.ts";
import { printTick } from "../time-labels.ts";
import type { ChartSlot } from "../types.ts";
import type { Scales } from "./scales.ts";

export function Axis({ scales }: { readonly scales: Scales }) {
  return scales.lines.map((value, index) => {
    const y = Math.round(scales.y(value)) + 0.5;
    return (
      <g key={value}>
        <line className="chart-line" x1={scales.plotLeft} x2={scales.plotRight} y1={y} y2={y} />
        <text className="chart-label" x={scales.plotLeft - 8} y={y + 4} textAnchor="end">
          {scales.labels[index]}
        </text>
      </g>
    );
  });
}

/** Half the width of a label: closer to an end it would be cut. */
const HALF = 22;

export function TimeAxis(props: { readonly scales: Scales; readonly slots: readonly ChartSlot[] }) {
  const language = useLanguage();
  const { scales, slots } = props;
  const length = slots[0] ? slots[0].end - slots[0].start : 0;
  const shown = scales.ticks.filter(({ x }) => x <= scales.plotRight - HALF);
  return shown.map(({ at, x }) => (
    <text key={at} className="chart-label" x={x} y={scales.plotBottom + 18} textAnchor="middle">
      {printTick(at, length, language)}
    </text>
  ));
}
