import { useLanguage } from "../../lib/i18n.ts";
import "../../ui/grid/data-grid.css";
import { useQuotaDisplay } from "../../ui/display/money.tsx";
import { printAmount, printStart } from "./print.ts";
import { barsOf, type ChartProps } from "./stacked-chart.tsx";
import type { Series } from "./series.ts";
import { useTexts } from "./texts.ts";

/** The numbers of the chart; times without usage are left out. */
export function UsageTable(props: Omit<ChartProps, "onOpen"> & { readonly all: readonly Series[] }) {
  const t = useTexts();
  const language = useLanguage();
  const display = useQuotaDisplay();
  const bars = barsOf(props, props.all).filter(({ total }) => total > 0);
  return (
    <div className="usage-table" tabIndex={0} role="region" aria-label={props.summary}>
      <table className="grid">
        <thead>
          <tr>
            <th scope="col">{t("time")}</th>
            <th scope="col" className="end">
              {t("total")}
            </th>
            {props.series.map((series) => (
              <th key={series.model ?? ""} scope="col" className="end">
                {series.model ?? t("others")}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {bars.toReversed().map((bar) => (
            <tr key={bar.bucket.start}>
              <td className="nowrap">{printStart(bar.bucket.start, props.step, language)}</td>
              <td className="end strong">{printAmount(props.metric, bar.total, display, language)}</td>
              {bar.parts.map(({ series, value }) => (
                <td key={series.model ?? ""} className="end">
                  {value === 0 ? <span className="soft">–</span> : printAmount(props.metric, value, display, language)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
