import { Link } from "react-router";
import { formatCount, formatShare, milliseconds } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import "../../ui/grid/data-grid.css";
import { Money } from "../../ui/display/money.tsx";
import type { SubjectFigures } from "./dimension.ts";
import type { Metric, ModelUsage } from "./series.ts";
import { useTexts } from "./texts.ts";

const MOST = 20;

interface ModelsProps {
  readonly models: readonly ModelUsage[];
  readonly metric: Metric;
  readonly title: string;
  /** Empty where there are no more than the amounts. */
  readonly figures: ReadonlyMap<string, SubjectFigures>;
  labelOf(model: string): string;
  /** Undefined where the log cannot be narrowed to it. */
  logOf(model: string): string | undefined;
}

function NameCell(props: { readonly label: string; readonly to: string | undefined }) {
  const t = useTexts();
  const { label, to } = props;
  if (to === undefined) return <span className="cut mono">{label}</span>;
  return (
    <Link className="link cut mono" to={to} title={t("openLog", { name: label })}>
      {label}
    </Link>
  );
}

function FigureCells({ figures }: { readonly figures: SubjectFigures | undefined }) {
  const language = useLanguage();
  const { calls = 0, errors = 0, p95 = 0 } = figures ?? {};
  return (
    <>
      <td className="end models-spare">
        {calls === 0 ? <span className="soft">–</span> : formatShare(errors, calls, language, 1)}
      </td>
      <td className="end models-spare">{p95 === 0 ? <span className="soft">–</span> : milliseconds(p95)}</td>
    </>
  );
}

/** The subjects of the span with their amounts; a name leads to its log. */
export function ModelsTable(props: ModelsProps) {
  const t = useTexts();
  const language = useLanguage();
  const { models, metric, figures } = props;
  const whole = models.reduce((sum, model) => sum + model[metric], 0);
  return (
    <div className="grid-frame models-table">
      <h2>{props.title}</h2>
      <table className="grid">
        <thead>
          <tr>
            <th scope="col">{t("name")}</th>
            <th scope="col" className="end">
              {t("requests")}
            </th>
            <th scope="col" className="end models-spare">
              {t("tokens")}
            </th>
            <th scope="col" className="end">
              {t("quota")}
            </th>
            {figures.size > 0 && (
              <>
                <th scope="col" className="end models-spare">
                  {t("errors")}
                </th>
                <th scope="col" className="end models-spare">
                  {t("p95")}
                </th>
              </>
            )}
            <th scope="col" className="models-share">
              {t("shareOf")}
            </th>
          </tr>
        </thead>
        <tbody>
          {models.slice(0, MOST).map((model) => (
            <tr key={model.model}>
              <td>
                <NameCell label={props.labelOf(model.model)} to={props.logOf(model.model)} />
              </td>
              <td className="end">{formatCount(model.requests, language)}</td>
              <td className="end models-spare">{formatCount(model.tokens, language)}</td>
              <td className="end strong">
                <Money quota={model.quota} />
              </td>
              {figures.size > 0 && <FigureCells figures={figures.get(model.model)} />}
              <td className="models-share">
                <span className="share-bar" style={{ width: `${whole === 0 ? 0 : (model[metric] / whole) * 60}%` }} />
                <span className="soft">{formatShare(model[metric], whole, language, 1)}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
