import type { ReactNode } from "react";
import { useLanguage } from "../../../lib/i18n.ts";
import { printStart } from "../time-labels.ts";
import type { ChartProps } from "../types.ts";
import { Axis, TimeAxis } from "./axes.tsx";
import { Reading } from "./reading.tsx";
import { buildScales, type Scales } from "./scales.ts";
import { usePlotInput } from "./use-plot-input.ts";
import { useWidth } from "./use-width.ts";

const HEIGHT = 260;

interface PlotProps extends ChartProps {
  /** The largest value on the axis. */
  readonly top: number;
  /** Returns the sum of a slot, also for screen readers; undefined if a sum is meaningless. */
  total(index: number): number | undefined;
  draw(scales: Scales, read: number | undefined): ReactNode;
}

function Brush(props: { readonly scales: Scales; readonly from: number; readonly to: number }) {
  const { scales, from, to } = props;
  const left = scales.left(Math.min(from, to));
  return (
    <rect
      className="chart-brush"
      x={left}
      y={scales.plotTop}
      width={Math.max(1, scales.right(Math.max(from, to)) - left)}
      height={scales.plotBottom - scales.plotTop}
    />
  );
}

/**
 * Axes and values of a chart over time. The pointer or the arrow keys read a slot; dragging, or Shift with the arrow
 * keys, selects a span.
 */
export function Plot(props: PlotProps) {
  const language = useLanguage();
  const [frame, width] = useWidth<HTMLDivElement>();
  const { slots, height = HEIGHT, print } = props;
  const scales = buildScales({ slots, top: props.top, axis: props.axis, width, height });
  const input = usePlotInput({ ...props, frame, scales });
  const last = Math.max(0, slots.length - 1);
  const read = input.read === undefined ? undefined : Math.min(input.read, last);
  const slot = read === undefined ? undefined : slots[read];
  const spoken = slot && read !== undefined ? describeSlot(props, read, language) : props.summary;
  return (
    <div
      ref={frame}
      className={props.onBrush ? "chart is-brushed" : "chart"}
      style={{ minHeight: height }}
      role="slider"
      tabIndex={0}
      aria-label={props.label}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={read ?? last}
      aria-valuetext={spoken}
      {...input.handlers}
    >
      {width > 0 && slots.length > 0 && (
        <svg width={width} height={height} aria-hidden="true">
          <Axis scales={scales} />
          {props.draw(scales, read)}
          <TimeAxis scales={scales} slots={slots} />
          {input.brush && <Brush scales={scales} {...input.brush} />}
        </svg>
      )}
      {slot && read !== undefined && (
        <Reading
          slot={slot}
          series={props.series}
          print={print}
          total={props.total(read)}
          left={scales.middle(read) / Math.max(1, width)}
        />
      )}
    </div>
  );
}

function describeSlot(props: PlotProps, index: number, language: string): string {
  const slot = props.slots[index];
  if (!slot) return "";
  const total = props.total(index);
  const named = props.series.flatMap(({ key, label }) => {
    const value = slot.values[key];
    return value === undefined ? [] : [`${label} ${props.print(value)}`];
  });
  const text = total === undefined ? named.join(", ") : props.print(total);
  return `${printStart(slot.start, slot.end - slot.start, language)}: ${text || "–"}`;
}
