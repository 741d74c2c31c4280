import { useState, type KeyboardEvent, type PointerEvent } from "react";
import { useLanguage } from "../../lib/i18n.ts";
import { useQuotaDisplay } from "../../ui/display/money.tsx";
import { printAmount, printStart, printTick } from "./print.ts";
import { niceCeiling, partOf, type Bucket, type Metric, type Series } from "./series.ts";
import type { Step } from "./span.ts";
import { useTexts } from "./texts.ts";
import { useWidth } from "./use-width.ts";

export interface ChartProps {
  readonly buckets: readonly Bucket[];
  readonly series: readonly Series[];
  readonly metric: Metric;
  readonly step: Step;
  /** A sentence that says what the picture shows. */
  readonly summary: string;
  /** Opens what lies behind a bar, or the part of it that one model has. */
  onOpen(bucket: Bucket, model?: string): void;
}

const HEIGHT = 260;
const TOP = 10;
const FOOT = 24;
const LEFT = 56;
const RIGHT = 6;
const LINES = [0, 0.25, 0.5, 0.75, 1];
const TICK_WIDTH = 76;

interface Bar {
  readonly bucket: Bucket;
  readonly parts: readonly { readonly series: Series; readonly value: number }[];
  readonly total: number;
}

export function barsOf(props: Pick<ChartProps, "buckets" | "series" | "metric">, all: readonly Series[]): Bar[] {
  const named = new Set(all.flatMap(({ model }) => model ?? []));
  return props.buckets.map((bucket) => {
    const parts = props.series.map((series) => ({ series, value: partOf(bucket, series, props.metric, named) }));
    return { bucket, parts, total: parts.reduce((sum, { value }) => sum + value, 0) };
  });
}

/** What the pointer or the arrow keys rest on. */
function Reading(props: { readonly bar: Bar; readonly metric: Metric; readonly step: Step; readonly left: number }) {
  const t = useTexts();
  const language = useLanguage();
  const display = useQuotaDisplay();
  const { bar, metric } = props;
  const shown = bar.parts.filter(({ value }) => value > 0).toSorted((a, b) => b.value - a.value);
  const side = props.left > 0.6 ? { right: `${(1 - props.left) * 100}%` } : { left: `${props.left * 100}%` };
  return (
    <div className="chart-reading" style={side} aria-hidden="true">
      <div className="chart-reading-head">
        <span>{printStart(bar.bucket.start, props.step, language)}</span>
        <strong>{printAmount(metric, bar.total, display, language)}</strong>
      </div>
      {shown.map(({ series, value }) => (
        <div key={series.model ?? ""} className="chart-reading-row">
          <span className={`swatch hue-${series.hue}`} />
          <span className="cut">{series.model ?? t("others")}</span>
          <span>{printAmount(metric, value, display, language)}</span>
        </div>
      ))}
    </div>
  );
}

function Axis(props: { readonly top: number; readonly width: number; readonly metric: Metric }) {
  const language = useLanguage();
  const display = useQuotaDisplay();
  const plot = HEIGHT - TOP - FOOT;
  return LINES.map((part) => {
    const y = Math.round(TOP + plot * (1 - part)) + 0.5;
    return (
      <g key={part}>
        <line className="chart-line" x1={LEFT} x2={props.width - RIGHT} y1={y} y2={y} />
        <text className="chart-label" x={LEFT - 8} y={y + 4} textAnchor="end">
          {printAmount(props.metric, props.top * part, display, language)}
        </text>
      </g>
    );
  });
}

function Ticks(props: { readonly bars: readonly Bar[]; readonly slot: number; readonly step: Step }) {
  const language = useLanguage();
  const every = Math.max(1, Math.ceil(TICK_WIDTH / props.slot));
  return props.bars.map(({ bucket }, index) =>
    index % every === 0 && (props.bars.length - index) * props.slot > TICK_WIDTH / 2 ? (
      <text
        key={bucket.start}
        className="chart-label"
        x={LEFT + (index + 0.5) * props.slot}
        y={HEIGHT - 6}
        textAnchor={index === 0 && props.slot < TICK_WIDTH ? "start" : "middle"}
        dx={index === 0 && props.slot < TICK_WIDTH ? -props.slot / 2 : 0}
      >
        {printTick(bucket.start, props.step, language)}
      </text>
    ) : null,
  );
}

interface Box {
  readonly x: number;
  readonly width: number;
  readonly top: number;
}

function Column(props: {
  readonly bar: Bar;
  readonly box: Box;
  readonly isRead: boolean;
  onOpen: ChartProps["onOpen"];
}) {
  const { bar, box } = props;
  const plot = HEIGHT - TOP - FOOT;
  let base = TOP + plot;
  return (
    <g className={props.isRead ? "chart-column is-read" : "chart-column"}>
      {bar.parts.map(({ series, value }) => {
        const height = (value / box.top) * plot;
        if (height <= 0) return null;
        base -= height;
        // The lane between two parts of a bar; slivers keep their whole height, so that they are seen.
        const gap = height > 3 ? 1 : 0;
        return (
          <rect
            key={series.model ?? ""}
            className={`chart-part hue-${series.hue}`}
            x={box.x}
            y={base + gap}
            width={box.width}
            height={Math.max(0.5, height - gap)}
            onClick={() => props.onOpen(bar.bucket, series.model)}
          />
        );
      })}
    </g>
  );
}

/** Stacked bars over time. A pointer or the arrow keys read a bar; a click or Enter opens its log. */
export function StackedChart(props: ChartProps & { readonly all: readonly Series[] }) {
  const t = useTexts();
  const language = useLanguage();
  const display = useQuotaDisplay();
  const [frame, width] = useWidth<HTMLDivElement>();
  const [read, setRead] = useState<number>();
  const bars = barsOf(props, props.all);
  const slot = Math.max(0.1, (width - LEFT - RIGHT) / Math.max(1, bars.length));
  const top = niceCeiling(Math.max(...bars.map(({ total }) => total), 0));
  const current = read === undefined ? undefined : bars[Math.min(read, bars.length - 1)];
  const last = bars.length - 1;

  function onKeyDown(event: KeyboardEvent): void {
    const at = read ?? last;
    const next = {
      ArrowRight: at + 1,
      ArrowUp: at + 1,
      ArrowLeft: at - 1,
      ArrowDown: at - 1,
      Home: 0,
      End: last,
    }[event.key];
    if (event.key === "Enter" && current) props.onOpen(current.bucket);
    if (next === undefined) return;
    event.preventDefault();
    setRead(Math.max(0, Math.min(last, next)));
  }

  function onPointerMove(event: PointerEvent): void {
    const box = frame.current?.getBoundingClientRect();
    if (!box) return;
    const at = Math.floor((event.clientX - box.left - LEFT) / slot);
    setRead(at < 0 || at > last ? undefined : at);
  }

  const spoken = current
    ? `${printStart(current.bucket.start, props.step, language)}: ${printAmount(props.metric, current.total, display, language)}`
    : props.summary;
  const barWidth = Math.max(0.5, Math.min(48, slot > 6 ? slot * 0.72 : slot - 0.5));
  return (
    <div
      ref={frame}
      className="chart"
      role="slider"
      tabIndex={0}
      aria-label={t("chartReader")}
      aria-valuemin={0}
      aria-valuemax={Math.max(0, last)}
      aria-valuenow={read ?? Math.max(0, last)}
      aria-valuetext={spoken}
      onKeyDown={onKeyDown}
      onPointerMove={onPointerMove}
      onPointerLeave={() => setRead(undefined)}
      onFocus={(event) => event.currentTarget.matches(":focus-visible") && setRead(last)}
      onBlur={() => setRead(undefined)}
    >
      {width > 0 && (
        <svg width={width} height={HEIGHT} aria-hidden="true">
          <Axis top={top} width={width} metric={props.metric} />
          {bars.map((bar, index) => (
            <Column
              key={bar.bucket.start}
              bar={bar}
              box={{ x: LEFT + index * slot + (slot - barWidth) / 2, width: barWidth, top }}
              isRead={bar === current}
              onOpen={props.onOpen}
            />
          ))}
          <Ticks bars={bars} slot={slot} step={props.step} />
        </svg>
      )}
      {current && read !== undefined && (
        <Reading
          bar={current}
          metric={props.metric}
          step={props.step}
          left={(LEFT + (read + 0.5) * slot) / Math.max(1, width)}
        />
      )}
    </div>
  );
}
