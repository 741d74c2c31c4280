import { Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { formatChange, fromLocalInput } from "../../../../lib/format.ts";
import { useLanguage } from "../../../../lib/i18n.ts";
import { nowSeconds } from "../../../../lib/now.ts";
import { ChangeDialog, type ShownChange } from "../../../../ui/bulk/change-dialog.tsx";
import { Money } from "../../../../ui/display/money.tsx";
import { TextField } from "../../../../ui/form/field.tsx";
import { useTexts } from "../../texts.ts";
import { listUnplannable, previewQuery, toPlannedPrices } from "./plans-api.ts";
import { listPriceChanges, type PriceChange } from "./price-changes.ts";
import type { PriceRow } from "./price-columns.tsx";
import type { PriceDrafts } from "./prices.ts";

const CELL_TEXT = { input: "input", output: "output", cached: "cached", call: "perCall" } as const;

interface PriceReviewProps {
  /** The rows with a draft. */
  readonly rows: readonly PriceRow[];
  /** Saves now, or plans the prices from a time on (epoch seconds). */
  onSave(startsAt?: number): void;
  onClose(): void;
}

function collectDrafts(rows: readonly PriceRow[]): PriceDrafts {
  return Object.fromEntries(rows.flatMap(({ model, draft }) => (draft ? [[model, draft]] : [])));
}

/** What the requests of the last 24 hours cost, and would have cost at the new prices. */
function WouldHaveCost({ rows }: Pick<PriceReviewProps, "rows">) {
  const t = useTexts();
  const { data } = useQuery(previewQuery(toPlannedPrices(collectDrafts(rows))));
  const used = data?.models.filter(({ requests }) => requests > 0);
  if (!used) return null;
  return (
    <Text as="div" role="status" textStyle="sm" color="fg.muted">
      {used.length === 0 && t("previewUnused")}
      {used.map(({ model, requests, charged, would_charge: after }) => (
        <div key={model}>
          {t(data?.complete ? "previewOf" : "previewOfNewest", { model, count: requests })}{" "}
          <strong>
            <Money quota={charged} isPrecise />
          </strong>{" "}
          → <strong>{<Money quota={after} isPrecise />}</strong>
        </div>
      ))}
    </Text>
  );
}

/** Shows what the price table changes, when it begins, and what it would have changed yesterday. */
export function PriceReview({ rows, onSave, onClose }: PriceReviewProps) {
  const t = useTexts();
  const language = useLanguage();
  const [from, setFrom] = useState("");
  const [isTried, setTried] = useState(false);
  const startsAt = from === "" ? undefined : fromLocalInput(from);
  const isLate = startsAt !== undefined && startsAt > nowSeconds();
  const unplannable = from === "" ? [] : listUnplannable(collectDrafts(rows));
  const isGood = from === "" || (isLate && unplannable.length === 0);
  const explainError = () =>
    unplannable.length > 0 ? t("pricesFromBuiltIn", { models: unplannable.join(", ") }) : t("pricesFromWrong");
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
      submitLabel={t(isLate ? "planPrices" : "savePrices", { count: rows.length })}
      plan={rows}
      toChosenRow={({ id, model }) => ({ id, name: model })}
      listShownChanges={(row) => (row.draft ? listPriceChanges(row, row.draft.cells).map(toShownChange) : [])}
      summary={(count) => t(isLate ? "planCount" : "reviewCount", { count })}
      isGood={isGood}
      onSubmit={() => {
        setTried(true);
        if (isGood) onSave(startsAt);
      }}
      onClose={onClose}
    >
      <TextField
        label={t("pricesFrom")}
        help={t("pricesFromHelp")}
        type="datetime-local"
        value={from}
        error={isTried && !isGood ? explainError() : undefined}
        onChange={setFrom}
      />
      <WouldHaveCost rows={rows} />
    </ChangeDialog>
  );
}
