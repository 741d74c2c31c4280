import { Link } from "react-router";
import { formatCount, formatShare, milliseconds } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import "../../ui/grid/data-grid.css";
import { Money } from "../../ui/display/money.tsx";
import { metricText, type Dimension, type SubjectFigures } from "./dimension.ts";
import type { Amounts, Metric, ModelUsage } from "./series.ts";
import { useTexts } from "./texts.ts";

const MAX_ROWS = 20;

interface ModelsProps {
  readonly models: readonly ModelUsage[];
  /** How many subjects the list of models leaves out, and what they used. */
  readonly unlisted: Amounts & { readonly count: number };
  /** The sum over all subjects; shares are fractions of it. */
  readonly total: Amounts;
  readonly metric: Metric;
  readonly title: string;
  readonly dimension: Dimension;
  readonly figures: ReadonlyMap<string, SubjectFigures>;
  formatLabel(model: string): string;
  /** Undefined if the log cannot be filtered by it. */
  buildLogAddress(model: string): string | undefined;
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

function AmountCells({ amounts }: { readonly amounts: Amounts }) {
  const language = useLanguage();
  return (
    <>
      <td className="end">{formatCount(amounts.requests, language)}</td>
      <td className="end models-spare">{formatCount(amounts.tokens, language)}</td>
      <td className="end strong">
        <Money quota={amounts.quota} />
      </td>
    </>
  );
}

function ShareCell({ part, whole }: { readonly part: number; readonly whole: number }) {
  const language = useLanguage();
  return (
    <td className="models-share">
      <span className="share-bar" style={{ width: `${whole === 0 ? 0 : (part / whole) * 60}%` }} />
      <span className="soft">{formatShare(part, whole, language, 1)}</span>
    </td>
  );
}

/** Sums everything below the last visible row, so that the rows add up to the total. */
function sumRest({ models, unlisted }: Pick<ModelsProps, "models" | "unlisted">): Amounts & { readonly count: number } {
  const hidden = models.slice(MAX_ROWS);
  const sum = (metric: Metric) => hidden.reduce((all, model) => all + model[metric], unlisted[metric]);
  return {
    count: hidden.length + unlisted.count,
    quota: sum("quota"),
    tokens: sum("tokens"),
    requests: sum("requests"),
  };
}

/** The subjects of the span with their amounts; a name links to its log. */
export function ModelsTable(props: ModelsProps) {
  const t = useTexts();
  const { models, metric, figures } = props;
  const rest = sumRest(props);
  return (
    <div className="grid-frame models-table table-stays">
      <h2>{props.title}</h2>
      <table className="grid">
        <thead>
          <tr>
            <th scope="col">{t("name")}</th>
            <th scope="col" className="end">
              {t(metricText("requests", props.dimension))}
            </th>
            <th scope="col" className="end models-spare">
              {t("tokens")}
            </th>
            <th scope="col" className="end">
              {t("quota")}
            </th>
            <th scope="col" className="end models-spare">
              {t("errors")}
            </th>
            <th scope="col" className="end models-spare">
              {t("p95")}
            </th>
            <th scope="col" className="models-share">
              {t("shareOf")}
            </th>
          </tr>
        </thead>
        <tbody>
          {models.slice(0, MAX_ROWS).map((model) => (
            <tr key={model.model}>
              <td>
                <NameCell label={props.formatLabel(model.model)} to={props.buildLogAddress(model.model)} />
              </td>
              <AmountCells amounts={model} />
              <FigureCells figures={figures.get(model.model)} />
              <ShareCell part={model[metric]} whole={props.total[metric]} />
            </tr>
          ))}
          {(rest.count > 0 || rest.requests > 0 || rest.quota > 0) && (
            <tr>
              <td className="soft">{rest.count > 0 ? t("moreSubjects", { count: rest.count }) : t("others")}</td>
              <AmountCells amounts={rest} />
              <FigureCells figures={undefined} />
              <ShareCell part={rest[metric]} whole={props.total[metric]} />
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}
