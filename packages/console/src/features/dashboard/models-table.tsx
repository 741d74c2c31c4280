import { Link } from "react-router";
import { formatCount, formatShare } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import "../../ui/grid/data-grid.css";
import { Money } from "../../ui/display/money.tsx";
import type { Metric, ModelUsage } from "./series.ts";
import { useTexts } from "./texts.ts";

const MOST = 20;

interface ModelsProps {
  readonly models: readonly ModelUsage[];
  readonly metric: Metric;
  logOf(model: string): string;
}

/** The models of the span with all three amounts; a name leads to its log. */
export function ModelsTable(props: ModelsProps) {
  const t = useTexts();
  const language = useLanguage();
  const { models, metric } = props;
  const whole = models.reduce((sum, model) => sum + model[metric], 0);
  return (
    <div className="grid-frame models-table">
      <h2>{t("modelsTitle")}</h2>
      <table className="grid">
        <thead>
          <tr>
            <th scope="col">{t("model")}</th>
            <th scope="col" className="end">
              {t("requests")}
            </th>
            <th scope="col" className="end">
              {t("tokens")}
            </th>
            <th scope="col" className="end">
              {t("quota")}
            </th>
            <th scope="col" className="models-share">
              {t("shareOf")}
            </th>
          </tr>
        </thead>
        <tbody>
          {models.slice(0, MOST).map((model) => (
            <tr key={model.model}>
              <td>
                <Link
                  className="link cut mono"
                  to={props.logOf(model.model)}
                  title={t("openLog", { name: model.model })}
                >
                  {model.model}
                </Link>
              </td>
              <td className="end">{formatCount(model.requests, language)}</td>
              <td className="end">{formatCount(model.tokens, language)}</td>
              <td className="end strong">
                <Money quota={model.quota} />
              </td>
              <td className="models-share">
                <span className="share-bar" style={{ width: `${whole === 0 ? 0 : (model[metric] / whole) * 60}%` }} />
                <span className="soft">{formatShare(model[metric], whole, language)}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
