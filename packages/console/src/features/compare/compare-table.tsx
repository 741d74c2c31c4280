import type { UsageSubject } from "@fairway/wire";
import { Link } from "react-router";
import { useLanguage } from "../../lib/i18n.ts";
import { logAddress } from "../../shared/usage/log-link.ts";
import type { Bounds } from "../../lib/range.ts";
import { Icon } from "../../ui/display/icon.tsx";
import { useQuotaDisplay } from "../../ui/display/money.tsx";
import "../../ui/grid/data-grid.css";
import type { Compared } from "./api.ts";
import { MEASURES, readMeasure, type Measure, type Sort, type SortKey } from "./measures.ts";
import { printMeasure } from "./print-measure.ts";
import { useTexts } from "./texts.ts";

interface TableProps {
  readonly by: Compared;
  readonly rows: readonly UsageSubject[];
  readonly sort: Sort;
  readonly bounds: Bounds;
  /** The colours of the rows that the chart draws. */
  readonly colours: ReadonlyMap<string, string>;
  onSort(sort: string): void;
}

/** Returns the text of a measure: a channel makes attempts, and one request may need several. */
export function measureText(measure: Measure, by: Compared): Measure | "attempts" {
  return measure === "calls" && by === "channel" ? "attempts" : measure;
}

function SortHead(
  props: Pick<TableProps, "sort" | "onSort"> & {
    readonly id: SortKey;
    readonly label: string;
    readonly title?: string;
  },
) {
  const t = useTexts();
  const { id, label, sort, onSort } = props;
  const isOn = sort.key === id;
  const direction = !isOn ? "none" : sort.isDescending ? "descending" : "ascending";
  return (
    <th scope="col" className={id === "name" ? undefined : "end"} aria-sort={direction}>
      <button
        type="button"
        className="grid-sort"
        title={props.title ?? t("sortBy", { name: label })}
        onClick={() => onSort(direction === "descending" || (id === "name" && !isOn) ? id : `-${id}`)}
      >
        {label}
        {isOn && <Icon name={sort.isDescending ? "down" : "up"} size={12} />}
      </button>
    </th>
  );
}

function NameCell({
  by,
  row,
  colour,
}: {
  readonly by: Compared;
  readonly row: UsageSubject;
  readonly colour?: string;
}) {
  const t = useTexts();
  const { subject } = row;
  const name = row.name || subject;
  const isChannel = by === "channel";
  const to = isChannel ? `/channel/${subject}` : logAddress({ range: "24h", isErrors: false, model: subject });
  return (
    <td className="compare-name">
      <span className={colour === undefined ? "swatch is-absent" : `swatch ${colour}`} aria-hidden="true" />
      <Link className="link cut" to={to} title={t(isChannel ? "openChannel" : "openLog", { name })}>
        <bdi>{name}</bdi>
      </Link>
    </td>
  );
}

/** All rows with all measures; a head sorts by its measure, which the chart then draws. */
export function CompareTable(props: TableProps) {
  const t = useTexts();
  const language = useLanguage();
  const style = { display: useQuotaDisplay(), language };
  const { by, rows, bounds, colours } = props;
  const seconds = bounds.to - bounds.from;
  return (
    <div className="grid-frame compare-table table-stays" tabIndex={0} role="region" aria-label={t("title")}>
      <table className="grid">
        <thead>
          <tr>
            <SortHead {...props} id="name" label={t("name")} />
            {MEASURES.map((measure) => (
              <SortHead
                key={measure}
                {...props}
                id={measure}
                label={t(measureText(measure, by))}
                {...(measure === "errors" ? { title: t("errorsHelp") } : {})}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const colour = colours.get(row.subject);
            return (
              <tr key={row.subject}>
                <NameCell by={by} row={row} {...(colour === undefined ? {} : { colour })} />
                {MEASURES.map((measure) => {
                  const value = readMeasure(row, measure, seconds);
                  return (
                    <td key={measure} className={measure === props.sort.key ? "end strong" : "end"}>
                      {value === undefined ? <span className="soft">–</span> : printMeasure(measure, value, style)}
                    </td>
                  );
                })}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
