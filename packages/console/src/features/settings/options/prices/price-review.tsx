import { formatChange } from "../../../../lib/format.ts";
import { useLanguage } from "../../../../lib/i18n.ts";
import { ChangeDialog, type ShownChange } from "../../../../ui/bulk/change-dialog.tsx";
import { useTexts } from "../../texts.ts";
import { listPriceChanges, type PriceChange } from "./price-changes.ts";
import type { PriceRow } from "./price-columns.tsx";

const CELL_TEXT = { input: "input", output: "output", cached: "cached", call: "perCall" } as const;

interface PriceReviewProps {
  /** The rows with a draft. */
  readonly rows: readonly PriceRow[];
  onSave(): void;
  onClose(): void;
}

/** Shows what saving the price table changes: each model with its price before and after. */
export function PriceReview({ rows, onSave, onClose }: PriceReviewProps) {
  const t = useTexts();
  const language = useLanguage();
  const shown = (value: string) => (value === "" ? "–" : `$${value}`);
  const toShownChange = ({ cell, before, after, numbers }: PriceChange): ShownChange => {
    const change = numbers && formatChange(numbers.after, numbers.before, language, 1);
    return {
      label: t(CELL_TEXT[cell]),
      before: shown(before),
      after: change === undefined ? shown(after) : `${shown(after)} (${change})`,
    };
  };
  return (
    <ChangeDialog
      title={t("reviewTitle")}
      submitLabel={t("savePrices", { count: rows.length })}
      plan={rows}
      toChosenRow={({ id, model }) => ({ id, name: model })}
      listShownChanges={(row) => (row.draft ? listPriceChanges(row, row.draft.cells).map(toShownChange) : [])}
      summary={(count) => t("reviewCount", { count })}
      isGood
      onSubmit={onSave}
      onClose={onClose}
    />
  );
}
