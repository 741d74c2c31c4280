import { useLanguage } from "../../lib/i18n.ts";
import { useQuotaDisplay } from "../../ui/display/money.tsx";
import { printAmount, printShare } from "./print.ts";
import type { Metric, Series } from "./series.ts";
import { useTexts } from "./texts.ts";

const RADIUS = 70;
const AROUND = 2 * Math.PI * RADIUS;
/** The lane between two arcs. */
const GAP = 2;

/** Each model's part of the whole, as a ring with its numbers next to it. */
export function ShareChart(props: {
  readonly series: readonly Series[];
  readonly metric: Metric;
  readonly summary: string;
}) {
  const t = useTexts();
  const language = useLanguage();
  const display = useQuotaDisplay();
  const whole = props.series.reduce((sum, { total }) => sum + total, 0);
  let done = 0;
  return (
    <div className="share">
      <svg viewBox="0 0 180 180" width={220} height={220} role="img" aria-label={props.summary}>
        {props.series.map((series) => {
          const length = whole === 0 ? 0 : (series.total / whole) * AROUND;
          const gap = props.series.length > 1 && length > 2 * GAP ? GAP : 0;
          const offset = -done;
          done += length;
          return (
            <circle
              key={series.model ?? ""}
              className={`share-arc hue-${series.hue}`}
              cx={90}
              cy={90}
              r={RADIUS}
              strokeDasharray={`${Math.max(0, length - gap)} ${AROUND}`}
              strokeDashoffset={offset}
              transform="rotate(-90 90 90)"
            />
          );
        })}
        <text className="share-total" x={90} y={94} textAnchor="middle">
          {printAmount(props.metric, whole, display, language)}
        </text>
      </svg>
      <ul className="share-list">
        {props.series.map((series) => (
          <li key={series.model ?? ""}>
            <span className={`swatch hue-${series.hue}`} />
            <span className="cut">{series.model ?? t("others")}</span>
            <span>{printAmount(props.metric, series.total, display, language)}</span>
            <span className="soft">{printShare(series.total, whole, language)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
