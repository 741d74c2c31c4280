import { stack } from "d3-shape";
import type { ChartProps, ChartSlot } from "../types.ts";
import { Plot } from "./plot.tsx";
import type { Scales } from "./scales.ts";

const WIDEST = 48;

interface BarsProps {
  readonly slots: readonly ChartSlot[];
  readonly series: ChartProps["series"];
  readonly scales: Scales;
  readonly read: number | undefined;
}

function Bars({ slots, series, scales, read }: BarsProps) {
  const layers = stack<unknown, ChartSlot, string>()
    .keys(series.map(({ key }) => key))
    .value((slot, key) => slot.values[key] ?? 0)([...slots]);
  return slots.map((slot, index) => {
    const room = scales.right(index) - scales.left(index);
    const width = Math.max(0.5, Math.min(WIDEST, room > 6 ? room * 0.76 : room - 0.5));
    return (
      <g key={slot.start} className={index === read ? "chart-column is-read" : "chart-column"}>
        {layers.map((layer, at) => {
          const [low = 0, high = 0] = layer[index] ?? [];
          const one = series[at];
          const height = scales.y(low) - scales.y(high);
          if (!one || height <= 0) return null;
          // The gap between two parts of a bar; slivers use their whole height, so that they are visible.
          const gap = height > 3 ? 1 : 0;
          return (
            <rect
              key={one.key}
              data-key={one.key}
              className={`chart-part ${one.colour}`}
              x={scales.middle(index) - width / 2}
              y={scales.y(high) + gap}
              width={width}
              height={Math.max(0.5, height - gap)}
            />
          );
        })}
      </g>
    );
  });
}

/** Amounts over time, one bar per slot with its series stacked. */
export function StackedBars(props: ChartProps) {
  const { slots, series } = props;
  const totals = slots.map(({ values }) => series.reduce((sum, { key }) => sum + (values[key] ?? 0), 0));
  return (
    <Plot
      {...props}
      top={Math.max(...totals, 0)}
      total={(index) => totals[index]}
      draw={(scales, read) => <Bars slots={slots} series={series} scales={scales} read={read} />}
    />
  );
}
