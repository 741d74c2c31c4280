import { scaleLinear } from "d3-scale";
import { area, line } from "d3-shape";
import { MAIN_COLOUR, type Colour } from "../colours.ts";

const WIDTH = 100;
const HEIGHT = 30;
const EDGE = 2;

export interface SparklineProps {
  /** Undefined = not measured. */
  readonly values: readonly (number | undefined)[];
  /** The previous period, drawn dashed in the background. */
  readonly before?: readonly (number | undefined)[];
  readonly colour?: Colour;
}

type Values = SparklineProps["values"];

/** The trend of a number, without scales: the number itself is next to it. */
export function Sparkline({ values, before = [], colour = MAIN_COLOUR }: SparklineProps) {
  const top = Math.max(...[...values, ...before].map((value) => value ?? 0), 0) || 1;
  const y = scaleLinear()
    .domain([0, top])
    .range([HEIGHT - EDGE, EDGE]);
  const xIn = (all: Values) =>
    scaleLinear()
      .domain([0, Math.max(1, all.length - 1)])
      .range([0, WIDTH]);
  const path = (all: Values) => {
    const x = xIn(all);
    return line<number | undefined>()
      .defined((value) => value !== undefined)
      .x((_, index) => x(index))
      .y((value) => y(value ?? 0))(all);
  };
  const x = xIn(values);
  const fill = area<number | undefined>()
    .defined((value) => value !== undefined)
    .x((_, index) => x(index))
    .y0(HEIGHT)
    .y1((value) => y(value ?? 0));
  return (
    <svg
      className={`sparkline ${colour}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path className="chart-area" d={fill(values) ?? ""} />
      {before.length > 1 && <path className="sparkline-before" d={path(before) ?? ""} />}
      <path className="chart-trend" d={path(values) ?? ""} />
    </svg>
  );
}
