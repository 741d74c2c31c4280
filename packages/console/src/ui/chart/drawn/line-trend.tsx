import { area, line } from "d3-shape";
import type { ChartProps, ChartSeries, ChartSlot } from "../types.ts";
import { Plot } from "./plot.tsx";
import type { Scales } from "./scales.ts";

type Point = readonly [x: number, y: number | undefined];

function buildPoints(slots: readonly ChartSlot[], { key }: ChartSeries, scales: Scales): Point[] {
  return slots.map(({ values }, index) => {
    const value = values[key];
    return [scales.middle(index), value === undefined ? undefined : scales.y(value)];
  });
}

interface LinesProps extends Pick<ChartProps, "slots" | "series"> {
  readonly scales: Scales;
  readonly read: number | undefined;
}

function Lines({ slots, series, scales, read }: LinesProps) {
  const path = line<Point>()
    .defined(([, y]) => y !== undefined)
    .x(([x]) => x)
    .y(([, y]) => y ?? 0);
  const fill = area<Point>()
    .defined(([, y]) => y !== undefined)
    .x(([x]) => x)
    .y0(scales.plotBottom)
    .y1(([, y]) => y ?? 0);
  const solid = series.filter(({ isDashed }) => !isDashed);
  return (
    <>
      {read !== undefined && (
        <line
          className="chart-cursor"
          x1={scales.middle(read)}
          x2={scales.middle(read)}
          y1={scales.plotTop}
          y2={scales.plotBottom}
        />
      )}
      {series.map((one) => {
        const points = buildPoints(slots, one, scales);
        const [, y] = (read === undefined ? undefined : points[read]) ?? [];
        return (
          <g key={one.key} className={one.colour}>
            {solid.length === 1 && !one.isDashed && <path className="chart-area" d={fill(points) ?? ""} />}
            <path className={one.isDashed ? "chart-trend is-dashed" : "chart-trend"} d={path(points) ?? ""} />
            {alone(points).map(([x, at]) => (
              <circle key={x} className="chart-dot" cx={x} cy={at} r={2.5} />
            ))}
            {read !== undefined && y !== undefined && (
              <circle className="chart-dot" cx={scales.middle(read)} cy={y} r={4} />
            )}
          </g>
        );
      })}
    </>
  );
}

/** Returns points without a measured neighbour: a line of one point has no length. */
function alone(points: readonly Point[]): Point[] {
  return points.filter(
    ([, y], index) => y !== undefined && points[index - 1]?.[1] === undefined && points[index + 1]?.[1] === undefined,
  );
}

/** Numbers over time, each as a line; the series for comparison are dashed. */
export function LineTrend(props: ChartProps) {
  const values = props.slots.flatMap((slot) => props.series.map(({ key }) => slot.values[key] ?? 0));
  return (
    <Plot
      {...props}
      top={Math.max(...values, 0)}
      total={() => undefined}
      draw={(scales, read) => <Lines slots={props.slots} series={props.series} scales={scales} read={read} />}
    />
  );
}
