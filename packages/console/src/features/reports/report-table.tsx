import { Button, Flex } from "@chakra-ui/react";
import type { ReportRow, UsageReport } from "@fairway/wire";
import { useState } from "react";
import { Link } from "react-router";
import { formatCount, formatShare } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { printStart } from "../../ui/chart/time-labels.ts";
import { Money } from "../../ui/display/money.tsx";
import "../../ui/grid/data-grid.css";
import type { Question } from "./api.ts";
import { buildLogAddress } from "./log-address.ts";
import { formatField, readWords, type Holders } from "./names.ts";
import type { Reader } from "./reader.ts";
import "./reports.css";
import {
  formatLabel,
  formatValue,
  hasSharedCost,
  listNameColumns,
  readMetric,
  readShared,
  readText,
  sumFigures,
  type Figures,
  type Interval,
  type Metric,
} from "./shape.ts";
import { useTexts } from "./texts.ts";

/** Rows that are drawn at once; the others follow at a click. */
const PAGE = 100;
const HOUR = 3_600;
const DAY = 86_400;

interface TableProps {
  readonly report: UsageReport;
  readonly interval: Interval;
  readonly metric: Metric;
  readonly question: Question;
  readonly reader: Reader;
  readonly holders: Holders;
}

function FigureCells({
  figures,
  whole,
  metric,
  isShared,
}: {
  readonly figures: Figures;
  readonly whole: Figures;
  readonly metric: Metric;
  readonly isShared: boolean;
}) {
  const language = useLanguage();
  return (
    <>
      <td className="end">{formatCount(figures.calls, language)}</td>
      <td className="end report-spare">
        {figures.errors === 0 ? <span className="soft">–</span> : formatCount(figures.errors, language)}
      </td>
      <td className="end report-spare">{formatCount(figures.input_tokens, language)}</td>
      <td className="end report-spare">{formatCount(figures.output_tokens, language)}</td>
      <td className={isShared ? "end" : "end strong"}>
        <Money quota={figures.quota} isPrecise />
      </td>
      {isShared && (
        <>
          <td className="end">
            <Money quota={readShared(figures)} isPrecise />
          </td>
          <td className="end strong">
            <Money quota={readMetric(figures, "quota")} isPrecise />
          </td>
        </>
      )}
      <td className="end report-spare">
        {formatShare(readMetric(figures, metric), readMetric(whole, metric), language, 1)}
      </td>
    </>
  );
}

type CostHead = "cost" | "ownCost" | "shared" | "totalCost";
const COST_HEADS: readonly CostHead[] = ["cost"];
const SHARED_HEADS: readonly CostHead[] = ["ownCost", "shared", "totalCost"];

interface HeadProps {
  readonly names: readonly string[];
  readonly hasStart: boolean;
  readonly isShared: boolean;
}

function Head({ names, hasStart, isShared }: HeadProps) {
  const t = useTexts();
  return (
    <thead>
      <tr>
        {hasStart && <th scope="col">{t("start")}</th>}
        {names.map((name) => (
          <th key={name} scope="col">
            {formatField(name, t)}
          </th>
        ))}
        {names.length === 0 && !hasStart && <th scope="col">{t("total")}</th>}
        <th scope="col" className="end">
          {t("calls")}
        </th>
        {(["errors", "input", "output"] as const).map((name) => (
          <th key={name} scope="col" className="end report-spare">
            {t(name)}
          </th>
        ))}
        {(isShared ? SHARED_HEADS : COST_HEADS).map((name) => (
          <th key={name} scope="col" className="end">
            {t(name)}
          </th>
        ))}
        <th scope="col" className="end report-spare">
          {t("share")}
        </th>
      </tr>
    </thead>
  );
}

function NameCells({
  row,
  names,
  holders,
  address,
}: {
  readonly row: ReportRow;
  readonly names: readonly string[];
  readonly holders: Holders;
  readonly address: string | undefined;
}) {
  const t = useTexts();
  const words = readWords(t, holders);
  if (names.length === 0) return null;
  const label = formatLabel(row, names, words);
  return names.map((name, at) => (
    <td key={name}>
      {at === 0 && address !== undefined ? (
        <Link className="link cut" to={address} title={t("openLog", { name: label })}>
          <bdi>{formatValue(row, name, words)}</bdi>
        </Link>
      ) : (
        <span className="cut" title={readText(row, name)}>
          <bdi>{formatValue(row, name, words)}</bdi>
        </span>
      )}
    </td>
  ));
}

/** The rows of a report; those that are not drawn are one row, so that the rows add up to the total. */
export function ReportTable({ report, interval, metric, question, reader, holders }: TableProps) {
  const t = useTexts();
  const language = useLanguage();
  const [most, setMost] = useState(PAGE);
  const names = listNameColumns(report);
  const hasStart = interval !== "none";
  const span = Math.max(1, names.length + (hasStart ? 1 : 0));
  const keys = report.columns.slice(1, report.columns.indexOf("calls"));
  const rest = report.rows.slice(most);
  const isShared = hasSharedCost(report);
  const figures = { whole: report.total, metric, isShared };
  return (
    <div className="grid-frame report-table table-stays" tabIndex={0} role="region" aria-label={t("rows")}>
      <table className="grid">
        <Head {...{ names, hasStart, isShared }} />
        <tbody>
          {report.rows.slice(0, most).map((row) => (
            <tr key={JSON.stringify([row.start, ...keys.map((column) => row[column])])}>
              {hasStart && (
                <td className="nowrap">{printStart(row.start, interval === "hour" ? HOUR : DAY, language)}</td>
              )}
              {span > names.length && !hasStart && <td>{t("allCalls")}</td>}
              <NameCells {...{ row, names, holders }} address={buildLogAddress(row, report, { question, reader })} />
              <FigureCells figures={row} {...figures} />
            </tr>
          ))}
          {rest.length > 0 && (
            <tr>
              <td colSpan={span} className="soft">
                {t("rest", { count: rest.length })}
              </td>
              <FigureCells figures={sumFigures(rest)} {...figures} />
            </tr>
          )}
        </tbody>
        <tfoot>
          <tr>
            <td colSpan={span}>{t("total")}</td>
            <FigureCells figures={report.total} {...figures} />
          </tr>
        </tfoot>
      </table>
      {rest.length > 0 && (
        <Flex p="2" justify="center">
          <Button size="sm" variant="outline" onClick={() => setMost(most + PAGE)}>
            {t("showMore")}
          </Button>
        </Flex>
      )}
    </div>
  );
}
