import type { OptionPrice } from "@fairway/wire";
import type { Column } from "../../../../ui/grid/grid-props.ts";
import { Mark } from "../../../../ui/display/mark.tsx";
import { toPriceCells, findFaults, formatRatios, type Cells, type PriceCell, type PriceDraft } from "./prices.ts";
import type { useTexts } from "../../texts.ts";

export interface PriceRow extends OptionPrice {
  readonly id: number;
  readonly draft: PriceDraft | undefined;
}

type Texts = ReturnType<typeof useTexts>;

function shownCells({ draft, price }: PriceRow): Cells {
  return draft?.cells ?? toPriceCells(price);
}

const LIST = "list price of ";
/** The text between the source of a price and the model that channels map the name to. */
const MAPPED = ", as ";

function sourceText(t: Texts, { price }: OptionPrice): string {
  if (!price) return t("sourceNone");
  if (price.source === "operator") return t("sourceOwn");
  const [, model] = price.source.split(MAPPED);
  if (model !== undefined) return t("sourceMapped", { model });
  if (!price.source.startsWith(LIST)) return t("sourceFamily");
  const unit = ["token", "call"].includes(price.unit) ? "" : ` · ${t("perUnit", { unit: price.unit })}`;
  return t("sourceList", { vendor: price.source.slice(LIST.length) }) + unit;
}

function Source(props: { readonly t: Texts; readonly row: PriceRow }) {
  const { t, row } = props;
  const text = sourceText(t, row);
  if (row.draft) return <Mark kind="caution" label={t("unsavedPrice")} title={text} />;
  if (!row.price) return <Mark kind="stop" label={text} />;
  return (
    <span className={row.price.source === "operator" ? undefined : "soft"} title={row.price.date || undefined}>
      {text}
    </span>
  );
}

interface PriceInputProps {
  readonly label: string;
  readonly value: string;
  readonly isFaulty: boolean;
  onChange(value: string): void;
}

function PriceInput(props: PriceInputProps) {
  return (
    <input
      className="price-input"
      inputMode="decimal"
      autoComplete="off"
      aria-label={props.label}
      aria-invalid={props.isFaulty}
      placeholder="–"
      value={props.value}
      onChange={(event) => props.onChange(event.target.value.trim())}
    />
  );
}

/** The table of prices; typed values go to `onCells` with the other cells of the row. */
export function priceColumns(t: Texts, onCells: (row: PriceRow, cells: Cells) => void): Column<PriceRow>[] {
  const money = (cell: PriceCell, header: string): Column<PriceRow> => ({
    id: cell,
    header,
    align: "end",
    cell: (row) => {
      const cells = shownCells(row);
      // A price per call overrides the prices of tokens.
      if (cell !== "call" && cells.call !== "") return "–";
      return (
        <PriceInput
          label={t("cellOf", { cell: header, model: row.model })}
          value={cells[cell]}
          isFaulty={row.draft !== undefined && findFaults(cells).has(cell)}
          onChange={(text) => onCells(row, { ...cells, [cell]: text })}
        />
      );
    },
  });
  return [
    { id: "model", header: t("findModel"), isTitle: true, cell: (row) => <span className="cut">{row.model}</span> },
    money("input", t("input")),
    money("output", t("output")),
    money("cached", t("cached")),
    money("call", t("perCall")),
    {
      id: "ratios",
      header: t("ratios"),
      align: "end",
      isMinor: true,
      cell: (row) => <span title={t("ratiosHelp")}>{formatRatios(shownCells(row)) ?? "–"}</span>,
    },
    { id: "source", header: t("source"), cell: (row) => <Source t={t} row={row} /> },
  ];
}
