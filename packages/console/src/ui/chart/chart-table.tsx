import { useLanguage } from "../../lib/i18n.ts";
import { useShortened } from "../display/shortened.tsx";
import "../grid/data-grid.css";
import "./chart.css";
import { useTexts } from "./texts.ts";
import { printStart } from "./time-labels.ts";
import type { ChartProps } from "./types.ts";

interface ChartTableProps extends Pick<ChartProps, "slots" | "series" | "print" | "summary"> {
  /** Whether the series add up, so that a column has their sum. */
  readonly isStacked?: boolean;
}

/** About as high as the picture that the table replaces. */
const USUAL_ROWS = 12;

/** The numbers of a chart, newest first; times without any are left out. */
export function ChartTable(props: ChartTableProps) {
  const t = useTexts();
  const language = useLanguage();
  const { series, print } = props;
  const rows = props.slots
    .map((slot) => ({ slot, total: series.reduce((sum, { key }) => sum + (slot.values[key] ?? 0), 0) }))
    .filter(({ total }) => total > 0)
    .toReversed();
  const { shown, more } = useShortened(rows, USUAL_ROWS);
  return (
    <>
      <div className="chart-table table-stays" tabIndex={0} role="region" aria-label={props.summary}>
        <table className="grid">
          <thead>
            <tr>
              <th scope="col">{t("time")}</th>
              {props.isStacked && (
                <th scope="col" className="end">
                  {t("total")}
                </th>
              )}
              {series.map(({ key, label }) => (
                <th key={key} scope="col" className="end">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map(({ slot, total }) => (
              <tr key={slot.start}>
                <td className="nowrap">{printStart(slot.start, slot.end - slot.start, language)}</td>
                {props.isStacked && <td className="end strong">{print(total)}</td>}
                {series.map(({ key }) => {
                  const value = slot.values[key];
                  return (
                    <td key={key} className="end">
                      {value === undefined || (props.isStacked && value === 0) ? (
                        <span className="soft">–</span>
                      ) : (
                        print(value)
                      )}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {more}
    </>
  );
}
