import type { Colour } from "./colours.ts";

/** A length of time with the amount of each series; undefined = not measured, which a line leaves out. */
export interface ChartSlot {
  /** First second, and first second of the next slot. */
  readonly start: number;
  readonly end: number;
  readonly values: Readonly<Record<string, number | undefined>>;
}

export interface ChartSeries {
  readonly key: string;
  readonly label: string;
  readonly colour: Colour;
  /** For series that are only compared with, such as the previous period. */
  readonly isDashed?: boolean;
}

export interface ChartProps {
  readonly slots: readonly ChartSlot[];
  readonly series: readonly ChartSeries[];
  /** Accessible name. */
  readonly label: string;
  /** A sentence that says what the picture shows. */
  readonly summary: string;
  /** Pixels. */
  readonly height?: number;
  print(value: number): string;
  /** What the axis counts in when its largest value is `top`; 1 unless it is given. */
  selectUnit?(top: number): number;
  /** A click or Enter: the slot, and the series where one was hit. */
  onOpen?(slot: ChartSlot, key: string | undefined): void;
  /** A span of slots that was dragged over: first and last second. */
  onBrush?(from: number, to: number): void;
}
