import { Button } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useRef, useState, type KeyboardEvent, type PointerEvent } from "react";
import { toDate, formatCount, formatStamp } from "../../../lib/format.ts";
import { useLanguage } from "../../../lib/i18n.ts";
import { nowSeconds } from "../../../lib/now.ts";
import { Icon } from "../../../ui/display/icon.tsx";
import { histogramQuery, type LogFilter } from "../api.ts";
import { useTexts } from "../texts.ts";
import { buildBars, roundTop, calculateSpan, buildTicks, widened, type Bar } from "./bars.ts";
import "./histogram.css";

interface HistogramProps {
  readonly filter: LogFilter;
  readonly isAdmin: boolean;
  readonly isLive: boolean;
  /** Shows only these seconds. */
  onNarrow(from: number, to: number): void;
  onErrors(): void;
}

/** The selected bars of the plot, from `anchor` to `end`. */
interface Choice {
  readonly anchor: number;
  readonly end: number;
  /** True while the pointer is down, or Shift extends the selection. */
  readonly isWide: boolean;
}

/** Formats `11-21 07:12` for long intervals, with seconds only if they matter. */
function timeText(at: number, interval: number): string {
  const stamp = formatStamp(at);
  return interval >= 60 ? stamp.slice(0, -3) : stamp;
}

function Reading(props: { readonly bars: readonly Bar[]; readonly choice: Choice; readonly interval: number }) {
  const t = useTexts();
  const language = useLanguage();
  const { bars, choice, interval } = props;
  const low = Math.min(choice.anchor, choice.end);
  const high = Math.max(choice.anchor, choice.end);
  const chosen = bars.slice(low, high + 1);
  const span = calculateSpan(bars, low, high);
  if (!span) return null;
  const count = chosen.reduce((sum, bar) => sum + bar.count, 0);
  const errors = chosen.reduce((sum, bar) => sum + bar.errors, 0);
  const middle = (low + high + 1) / 2 / bars.length;
  const side = middle > 0.5 ? { right: `${(1 - middle) * 100}%` } : { left: `${middle * 100}%` };
  return (
    <div className="histogram-reading" style={side} aria-hidden="true">
      <span className="soft">
        {timeText(span.from, interval)} – {timeText(span.to + 1, interval)}
      </span>
      <span>
        <i className="histogram-swatch is-ok" />
        {t("histogramOk")} <strong>{formatCount(count - errors, language)}</strong>
      </span>
      <span>
        <i className="histogram-swatch is-error" />
        {t("histogramErrors")} <strong>{formatCount(errors, language)}</strong>
      </span>
    </div>
  );
}

/** Has the same numbers for readers who do not see the plot. */
function Twin({ bars, interval }: { readonly bars: readonly Bar[]; readonly interval: number }) {
  const t = useTexts();
  const language = useLanguage();
  return (
    <table className="sr-only">
      <caption>{t("histogram")}</caption>
      <thead>
        <tr>
          <th scope="col">{t("time")}</th>
          <th scope="col">{t("histogramOk")}</th>
          <th scope="col">{t("histogramErrors")}</th>
        </tr>
      </thead>
      <tbody>
        {bars
          .filter(({ count }) => count > 0)
          .map((bar) => (
            <tr key={bar.from}>
              <th scope="row">{timeText(bar.from, interval)}</th>
              <td>{formatCount(bar.count - bar.errors, language)}</td>
              <td>{formatCount(bar.errors, language)}</td>
            </tr>
          ))}
      </tbody>
    </table>
  );
}

function Part({ kind, share }: { readonly kind: "is-ok" | "is-error"; readonly share: number }) {
  return share > 0 && <span className={`histogram-part ${kind}`} style={{ height: `${100 * share}%` }} />;
}

function Plot(props: {
  readonly bars: readonly Bar[];
  readonly interval: number;
  onNarrow(from: number, to: number): void;
}) {
  const t = useTexts();
  const language = useLanguage();
  const { bars, interval } = props;
  const plot = useRef<HTMLDivElement>(null);
  const [choice, setChoice] = useState<Choice>();
  const last = bars.length - 1;
  const top = roundTop(Math.max(...bars.map(({ count }) => count), 0));
  const bound = (index: number) => Math.max(0, Math.min(last, index));

  function indexAt(event: PointerEvent): number {
    const box = plot.current?.getBoundingClientRect();
    return box ? bound(Math.floor(((event.clientX - box.left) / box.width) * bars.length)) : 0;
  }

  function apply({ anchor, end }: Choice): void {
    const span = calculateSpan(bars, anchor, end);
    setChoice(undefined);
    if (span && (span.to > span.from || interval > 1)) props.onNarrow(span.from, span.to);
  }

  function onKeyDown(event: KeyboardEvent): void {
    const at = choice?.end ?? last;
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: last }[event.key];
    if (event.key === "Enter" && choice) apply(choice);
    if (event.key === "Escape" && choice) {
      event.stopPropagation();
      setChoice(undefined);
    }
    if (next === undefined) return;
    event.preventDefault();
    const end = bound(choice ? next : at);
    setChoice({ anchor: event.shiftKey ? (choice?.anchor ?? end) : end, end, isWide: event.shiftKey });
  }

  const read = choice && bars[choice.end];
  const spoken = read
    ? t("histogramBar", {
        time: timeText(read.from, interval),
        count: formatCount(read.count - read.errors, language),
        errors: formatCount(read.errors, language),
      })
    : t("histogramHelp");
  const isChosen = (index: number) =>
    choice && index >= Math.min(choice.anchor, choice.end) && index <= Math.max(choice.anchor, choice.end);
  return (
    <div
      ref={plot}
      className="histogram-plot"
      role="slider"
      tabIndex={0}
      aria-label={t("histogramReader")}
      aria-valuemin={0}
      aria-valuemax={Math.max(0, last)}
      aria-valuenow={choice?.end ?? Math.max(0, last)}
      aria-valuetext={spoken}
      onKeyDown={onKeyDown}
      onBlur={() => setChoice(undefined)}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        const at = indexAt(event);
        setChoice({ anchor: at, end: at, isWide: true });
      }}
      onPointerMove={(event) => {
        const end = indexAt(event);
        setChoice((current) => (current?.isWide ? { ...current, end } : { anchor: end, end, isWide: false }));
      }}
      onPointerUp={() => choice?.isWide && apply(choice)}
      onPointerCancel={() => setChoice(undefined)}
      onPointerLeave={() => setChoice((current) => (current?.isWide ? current : undefined))}
    >
      <span className="histogram-top" aria-hidden="true">
        {formatCount(top, language)}
      </span>
      {bars.map((bar, index) => (
        <span key={bar.from} className={isChosen(index) ? "histogram-bar is-chosen" : "histogram-bar"}>
          <Part kind="is-error" share={bar.errors / top} />
          <Part kind="is-ok" share={(bar.count - bar.errors) / top} />
        </span>
      ))}
      {choice && <Reading bars={bars} choice={choice} interval={interval} />}
    </div>
  );
}

/**
 * Plots calls over time above the list, with errors stacked on top; an interval that is clicked or dragged over becomes
 * the range.
 */
export function Histogram(props: HistogramProps) {
  const t = useTexts();
  const language = useLanguage();
  const { data } = useQuery(histogramQuery(props.filter, props));
  const bars = useMemo(() => (data ? buildBars(data) : []), [data]);
  const count = bars.reduce((sum, bar) => sum + bar.count, 0);
  const errors = bars.reduce((sum, bar) => sum + bar.errors, 0);
  const first = bars[0];
  const last = bars.at(-1);
  return (
    <section className="histogram" aria-label={t("histogram")}>
      <div className="histogram-head">
        <span>
          <i className="histogram-swatch is-ok" />
          {t("histogramOk")} <strong>{data ? formatCount(count - errors, language) : "…"}</strong>
        </span>
        <button type="button" className="histogram-errors" title={t("onlyErrors")} onClick={props.onErrors}>
          <i className="histogram-swatch is-error" />
          {t("histogramErrors")} <strong>{data ? formatCount(errors, language) : "…"}</strong>
          {errors > 0 && <span className="soft">{t("errorPart", { part: percent(errors / count, language) })}</span>}
        </button>
        {props.filter.range === "custom" && data && (
          <Button
            size="xs"
            variant="ghost"
            ms="auto"
            onClick={() => {
              const { from, to } = widened(data, nowSeconds());
              props.onNarrow(from, to);
            }}
          >
            <Icon name="zoomOut" size={14} />
            {t("zoomOut")}
          </Button>
        )}
      </div>
      {data && last && first ? (
        <>
          <Plot bars={bars} interval={data.interval} onNarrow={props.onNarrow} />
          <div className="histogram-times" aria-hidden="true">
            {buildTicks({ from: first.from, to: last.to }, offsetAt(first.from)).map(({ at, place, isDay }, index) => (
              <span key={at} className={findSideClass(place)} style={{ insetInlineStart: `${place * 100}%` }}>
                {tickText(at, { isDay, isFirst: index === 0 })}
              </span>
            ))}
          </div>
          <Twin bars={bars} interval={data.interval} />
        </>
      ) : (
        <>
          <div className="histogram-plot" />
          <div className="histogram-times" />
        </>
      )}
    </section>
  );
}

/** Returns the seconds that the local clock is ahead of UTC. */
function offsetAt(at: number): number {
  return -toDate(at).getTimezoneOffset() * 60;
}

/** The outer labels stay within the plot. */
function findSideClass(place: number): string | undefined {
  if (place < 0.05) return "is-first";
  return place > 0.95 ? "is-last" : undefined;
}

/** The first label names the day, the others only what differs. */
function tickText(at: number, { isDay, isFirst }: { readonly isDay: boolean; readonly isFirst: boolean }): string {
  const [day = "", time = ""] = formatStamp(at).split(" ");
  const short = time.replace(/:00$/, "");
  if (isDay) return day;
  return isFirst ? `${day} ${short}` : short;
}

function percent(part: number, language: string): string {
  return new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 1 }).format(part);
}
