import type { ChartAxis } from "./axis.ts";
import type { Colour } from "./colours.ts";

/** A time interval with the amount of each series; undefined = not measured, which a line leaves out. */
export interface ChartSlot {
  /** First second of this slot, and of the next one. */
  readonly start: number;
  readonly end: number;
  readonly values: Readonly<Record<string, number | undefined>>;
}

export interface ChartSeries {
  readonly key: string;
  readonly label: string;
  readonly colour: Colour;
  /** For comparison series, such as the previous period. */
  readonly isDashed?: boolean;
}

export interface ChartProps {
  readonly slots: readonly ChartSlot[];
  readonly series: readonly ChartSeries[];
  /** Accessible name. */
  readonly label: string;
  /** A sentence that describes the picture. */
  readonly summary: string;
  /** Pixels. */
  readonly height?: number;
  print(value: number): string;
  readonly axis: ChartAxis;
  /** Called on a click or Enter: the slot, and the series if one was clicked. */
  onOpen?(slot: ChartSlot, key: string | undefined): void;
  /** Called after a span of slots was dragged over, with its first and last second. */
  onBrush?(from: number, to: number): void;
}
