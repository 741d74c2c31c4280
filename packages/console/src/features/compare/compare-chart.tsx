import type { UsageSubject } from "@fairway/wire";
import { useMemo } from "react";
import { useNavigate } from "react-router";
import { useLanguage } from "../../lib/i18n.ts";
import { logAddress } from "../../shared/usage/log-link.ts";
import type { Period } from "../../shared/usage/period.ts";
import { ChartFigure } from "../../ui/chart/chart-figure.tsx";
import { REST_COLOUR, type Colour } from "../../ui/chart/colours.ts";
import type { ChartSlot } from "../../ui/chart/types.ts";
import { useQuotaDisplay } from "../../ui/display/money.tsx";
import type { Compared } from "./api.ts";
import { measureText } from "./compare-table.tsx";
import { readMeasure, type Measure } from "./measures.ts";
import { buildAxis, printMeasure } from "./print-measure.ts";
import { useTexts } from "./texts.ts";

const HEIGHT = 240;

/** Returns one slot for each point of the period with the measure of each line. */
function buildLines(period: Period, lines: readonly UsageSubject[], measure: Measure): ChartSlot[] {
  const points = new Map(
    lines.map(({ subject, points: all }) => [subject, new Map(all.map((one) => [one.start, one]))]),
  );
  const slots: ChartSlot[] = [];
  for (let start = period.from; start <= period.to; start += period.interval) {
    const end = start + period.interval;
    const values: Record<string, number | undefined> = {};
    for (const [subject, byStart] of points) {
      const point = byStart.get(start);
      // The last point is not over yet.
      values[subject] = point && readMeasure(point, measure, Math.min(end, period.to + 1) - start);
    }
    slots.push({ start, end, values });
  }
  return slots;
}

interface ChartProps {
  readonly by: Compared;
  readonly period: Period;
  readonly lines: readonly UsageSubject[];
  readonly measure: Measure;
  readonly colours: ReadonlyMap<string, Colour>;
}

/** One measure of several channels or models over time. */
export function CompareChart({ by, period, lines, measure, colours }: ChartProps) {
  const t = useTexts();
  const navigate = useNavigate();
  const language = useLanguage();
  const display = useQuotaDisplay();
  const slots = useMemo(() => buildLines(period, lines, measure), [period, lines, measure]);
  const name = t(measureText(measure, by));
  const [first] = lines;
  const part = by === "channel" ? { channel: first?.subject ?? "" } : { model: first?.subject ?? "" };
  return (
    <ChartFigure
      kind="lines"
      title={t("overTime", { measure: name })}
      empty={t("empty")}
      label={t("reader")}
      height={HEIGHT}
      slots={slots}
      series={lines.map((one) => ({
        key: one.subject,
        label: one.name || one.subject,
        colour: colours.get(one.subject) ?? REST_COLOUR,
      }))}
      summary={t("summary", { measure: name, count: lines.length, name: first?.name ?? "–" })}
      print={(value) => printMeasure(measure, value, { display, language })}
      axis={buildAxis(measure, { display, language })}
      onOpen={({ start, end }) =>
        void navigate(logAddress({ span: { from: start, to: end - 1 }, isErrors: measure === "errors", ...part }))
      }
    />
  );
}
