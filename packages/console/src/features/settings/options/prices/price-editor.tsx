import { parsePriceTables, type OptionPrice, type PriceTexts } from "@fairway/wire";
import { Button, Flex, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { Suspense, useMemo, useState } from "react";
import { isStale } from "../../../../lib/problems.ts";
import { queryClient } from "../../../../lib/query.ts";
import { ask } from "../../../../ui/feedback/ask.ts";
import { DataGrid } from "../../../../ui/grid/data-grid.tsx";
import { EmptyTeach, LoadFailed, Loading } from "../../../../ui/feedback/empty.tsx";
import { FilterBar, FilterSelect, FilterText } from "../../../../ui/grid/filter-bar.tsx";
import { Icon } from "../../../../ui/display/icon.tsx";
import { IconButton } from "../../../../ui/display/icon-button.tsx";
import { NoticeBar } from "../../../../ui/feedback/notice-bar.tsx";
import { toast, toastProblem } from "../../../../ui/feedback/toaster.ts";
import { LIST_DEFAULTS, useList } from "../../../../ui/grid/use-list.ts";
import { lateOverlay } from "../../../../ui/late/late.tsx";
import { pricesQuery, readPriceTexts, saveOptions } from "../../api.ts";
import { priceColumns, type PriceRow } from "./price-columns.tsx";
import "./prices.css";
import {
  builtInCells,
  toPriceCells,
  changedTexts,
  findFaults,
  isInForce,
  overtaken,
  PRICE_CELLS,
  buildPriceState,
  type Cells,
  type PriceDrafts,
} from "./prices.ts";
import { PlannedPrices } from "./planned-prices.tsx";
import { planPrices, toPlannedPrices } from "./plans-api.ts";
import { useTexts } from "../../texts.ts";

const PriceReview = lateOverlay(async () => (await import("./price-review.tsx")).PriceReview);

const DEFAULTS = { ...LIST_DEFAULTS, model: "", show: "served" };
/** How many names are listed; the rest is counted. */
const NAMED = 3;

const SHOWN: Readonly<Record<string, (row: PriceRow) => boolean>> = {
  served: (row) => row.is_served || row.draft !== undefined,
  all: () => true,
  own: ({ price }) => price?.source === "operator",
  none: ({ price, is_served: isServed }) => price === null && isServed,
  changed: ({ draft }) => draft !== undefined,
};

interface DraftProps {
  /** Unsaved prices; they survive a switch to another tab. */
  readonly drafts: PriceDrafts;
  onDrafts(change: (current: PriceDrafts) => PriceDrafts): void;
}

function removeDrafts(drafts: PriceDrafts, models: readonly string[]): PriceDrafts {
  return Object.fromEntries(Object.entries(drafts).filter(([model]) => !models.includes(model)));
}

function nameSome(models: readonly string[]): string {
  const rest = models.length - NAMED;
  return models.slice(0, NAMED).join(", ") + (rest > 0 ? ` +${rest}` : "");
}

function buildRows(prices: readonly OptionPrice[], drafts: PriceDrafts): PriceRow[] {
  const known = new Set(prices.map(({ model }) => model));
  const added = Object.keys(drafts).filter((model) => !known.has(model));
  const all = [
    ...added.map((model): OptionPrice => ({ model, price: null, built_in: null, is_served: false })),
    ...prices,
  ];
  return all.map((row, id) => ({ ...row, id, draft: drafts[row.model] }));
}

/** Edits prices of models as a table of dollars, and writes the options of ratios and prices. */
export function PriceEditor(props: DraftProps) {
  const { data, error, refetch } = useQuery(pricesQuery);
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading />;
  return <PriceTable {...props} {...data} />;
}

interface Loaded {
  readonly prices: readonly OptionPrice[];
  readonly texts: PriceTexts;
}

function PriceTable({ prices, texts, drafts, onDrafts }: DraftProps & Loaded) {
  const t = useTexts();
  const list = useList(DEFAULTS);
  const { state, page, size } = list;
  const rows = useMemo(() => buildRows(prices, drafts), [prices, drafts]);
  const columns = useMemo(() => {
    const tables = parsePriceTables(texts);
    return priceColumns(t, (row, cells) =>
      onDrafts((current) => edited(current, row, cells, buildPriceState(tables, row.model))),
    );
  }, [t, texts, onDrafts]);
  const word = state.model.toLowerCase();
  const isShown = SHOWN[state.show] ?? SHOWN.served;
  const matching = rows.filter((row) => row.model.toLowerCase().includes(word) && isShown?.(row));
  const canAdd = state.model !== "" && rows.every(({ model }) => model !== state.model);
  const add = () => {
    const began = buildPriceState(parsePriceTables(texts), state.model);
    onDrafts((current) => ({ ...current, [state.model]: { cells: toPriceCells(null), began } }));
  };
  const reset = (row: PriceRow) =>
    onDrafts((current) => {
      const began = current[row.model]?.began ?? buildPriceState(parsePriceTables(texts), row.model);
      return { ...current, [row.model]: { cells: builtInCells(row), began } };
    });

  return (
    <>
      <NoticeBar icon="help" hue="fairway">
        {t("pricesHelp")}
      </NoticeBar>
      <FilterBar
        main={
          <FilterText isMain label={t("findModel")} value={state.model} onChange={(model) => list.filter({ model })} />
        }
        isActive={list.isFiltered}
        onClear={list.clear}
        aside={
          canAdd && (
            <Button variant="outline" onClick={add}>
              <Icon name="plus" size={14} />
              {t("addPrice", { model: state.model })}
            </Button>
          )
        }
      >
        <FilterSelect
          width="176px"
          label={t("showModels")}
          value={state.show}
          unset="served"
          choices={[
            { value: "served", label: t("servedModels") },
            { value: "all", label: t("allModels") },
            { value: "own", label: t("ownPrices") },
            { value: "none", label: t("unpricedModels") },
            { value: "changed", label: t("changedPrices") },
          ]}
          onChange={(show) => list.filter({ show })}
        />
      </FilterBar>
      <PlannedPrices />
      <SaveBar rows={rows} drafts={drafts} onDrafts={onDrafts} />
      <DataGrid
        label={t("prices")}
        columns={columns}
        rows={matching.slice((page - 1) * size, page * size)}
        rowId={(row) => row.id}
        rowName={(row) => row.model}
        isFetching={false}
        pager={list.pager(matching.length)}
        actions={(row) => (
          <RowAction
            row={row}
            onReset={reset}
            onUndo={({ model }) => onDrafts((current) => removeDrafts(current, [model]))}
          />
        )}
        empty={<EmptyTeach icon="price" title={t("noPricesTitle")} body={t("noPricesBody")} />}
      />
    </>
  );
}

/** A row that is back at the charged price is not a change. */
function edited(drafts: PriceDrafts, row: PriceRow, cells: Cells, now: string): PriceDrafts {
  const charged = toPriceCells(row.price);
  if (row.price && PRICE_CELLS.every((cell) => cells[cell] === charged[cell])) return removeDrafts(drafts, [row.model]);
  return { ...drafts, [row.model]: { cells, began: drafts[row.model]?.began ?? now } };
}

function RowAction(props: { readonly row: PriceRow; onUndo(row: PriceRow): void; onReset(row: PriceRow): void }) {
  const t = useTexts();
  const { row } = props;
  if (row.draft) {
    return (
      <IconButton size="xs" label={t("undoPrice", { model: row.model })} onClick={() => props.onUndo(row)}>
        <Icon name="close" size={14} />
      </IconButton>
    );
  }
  if (row.price?.source !== "operator") return null;
  return (
    <IconButton size="xs" label={t("resetPrice", { model: row.model })} onClick={() => props.onReset(row)}>
      <Icon name="refresh" size={14} />
    </IconButton>
  );
}

function SaveBar({ rows, drafts, onDrafts }: DraftProps & { readonly rows: readonly PriceRow[] }) {
  const t = useTexts();
  const [isSaving, setSaving] = useState(false);
  const [isReviewing, setReviewing] = useState(false);
  const models = Object.keys(drafts);
  if (models.length === 0) return null;
  const faulty = Object.entries(drafts).filter(([, { cells }]) => findFaults(cells).size > 0);
  const saved = () =>
    onDrafts((current) =>
      removeDrafts(
        current,
        models.filter((model) => current[model] === drafts[model]),
      ),
    );

  async function save(startsAt: number | undefined): Promise<void> {
    setReviewing(false);
    setSaving(true);
    try {
      if (startsAt !== undefined) {
        await planPrices(startsAt, toPlannedPrices(drafts));
        saved();
        return toast("success", t("planned"));
      }
      if (!(await savePrices(t, drafts))) return;
      saved();
      await tellWhatCounts(t, drafts);
    } catch (problem) {
      toastProblem(problem);
      if (isStale(problem)) await queryClient.invalidateQueries({ queryKey: pricesQuery.queryKey });
    } finally {
      setSaving(false);
    }
  }

  return (
    <Flex gap="3" align="center" wrap="wrap" mb="3">
      <Button size="sm" disabled={faulty.length > 0} loading={isSaving} onClick={() => setReviewing(true)}>
        {t("reviewPrices", { count: models.length })}
      </Button>
      <Button size="sm" variant="outline" onClick={() => onDrafts(() => ({}))}>
        {t("discardCard")}
      </Button>
      {faulty.length > 0 ? (
        <Text role="alert" textStyle="sm" color="fg.error">
          {t("badPrice", { models: nameSome(faulty.map(([model]) => model)) })}
        </Text>
      ) : (
        <Text textStyle="sm" color="fg.muted">
          {t("unsavedPrices", { models: nameSome(models) })}
        </Text>
      )}
      <Suspense>
        {isReviewing && (
          <PriceReview
            rows={rows.filter(({ draft }) => draft !== undefined)}
            onSave={(startsAt) => void save(startsAt)}
            onClose={() => setReviewing(false)}
          />
        )}
      </Suspense>
    </Flex>
  );
}

/** Saves into the current options, so that other users' changes stay; false if the user cancelled. */
async function savePrices(t: ReturnType<typeof useTexts>, drafts: PriceDrafts): Promise<boolean> {
  const { texts, tag } = await readPriceTexts();
  const lost = overtaken(drafts, texts);
  if (lost.length > 0) {
    const body = t("overtakenBody", { models: nameSome(lost) });
    const isWanted = await ask({ title: t("overtakenTitle"), body, confirm: t("overtakenSave"), isDangerous: true });
    if (!isWanted) {
      await queryClient.invalidateQueries({ queryKey: pricesQuery.queryKey });
      return false;
    }
  }
  await saveOptions(changedTexts(drafts, texts), tag);
  return true;
}

async function tellWhatCounts(t: ReturnType<typeof useTexts>, drafts: PriceDrafts): Promise<void> {
  const { prices } = await queryClient.fetchQuery(pricesQuery);
  const charged = new Map(prices.map(({ model, price }) => [model, price]));
  const idle = Object.entries(drafts).filter(([model, { cells }]) => !isInForce(cells, charged.get(model)));
  if (idle.length === 0) toast("success", t("saved"));
  else toast("info", t("notInForce", { models: nameSome(idle.map(([model]) => model)) }));
}
