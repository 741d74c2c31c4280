import { formatCount } from "../../lib/format.ts";
import { Mark } from "../../ui/display/mark.tsx";
import { Money } from "../../ui/display/money.tsx";
import { Stamp } from "../../ui/display/stamp.tsx";
import { Progress } from "../../ui/feedback/progress.tsx";
import type { Column } from "../../ui/grid/grid-props.ts";
import type { Batch } from "@fairway/wire";
import { calculateProgress, findState } from "./state.ts";
import type { useTexts } from "./texts.ts";

interface ColumnSettings {
  readonly t: ReturnType<typeof useTexts>;
  readonly language: string;
  readonly isAdmin: boolean;
  readonly onOpen: (row: Batch) => void;
}

function Amount({ quota }: { readonly quota: number }) {
  return quota === 0 ? <span className="soft">–</span> : <Money quota={quota} />;
}

export function batchColumns({ t, language, isAdmin, onOpen }: ColumnSettings): Column<Batch>[] {
  const channel: Column<Batch> = {
    id: "channel",
    header: t("channel"),
    width: 76,
    rank: 5,
    sort: "channel_id",
    isMinor: true,
    cell: (row) => row.channel_id || <span className="soft">–</span>,
  };
  const money = (id: "deposit" | "charged" | "saved", rank: number): Column<Batch> => ({
    id,
    header: t(id),
    width: 92,
    rank,
    align: "end",
    sort: id,
    cell: (row) => <Amount quota={row[id]} />,
  });
  return [
    {
      id: "created",
      header: t("created"),
      width: 120,
      sort: "created_at",
      cell: (row) => <Stamp at={row.created_at} />,
    },
    {
      id: "id",
      header: t("batchId"),
      width: 190,
      isElastic: true,
      isTitle: true,
      cell: (row) => (
        <button
          type="button"
          className="batch-id cut mono"
          title={t("openBatch", { id: row.id })}
          onClick={() => onOpen(row)}
        >
          {row.id}
        </button>
      ),
    },
    {
      id: "models",
      header: t("models"),
      width: 140,
      rank: 2,
      cell: (row) => <span className="cut">{Object.keys(row.models).join(", ") || "–"}</span>,
    },
    ...(isAdmin ? [channel] : []),
    {
      id: "state",
      header: t("state"),
      width: 120,
      sort: "phase",
      cell: (row) => <Mark kind={findState(row).mark} label={t(findState(row).text)} title={row.error || undefined} />,
    },
    {
      id: "progress",
      header: t("progress"),
      width: 120,
      cell: (row) => (
        <Progress
          label={t("progressOf", { id: row.id })}
          text={row.total === 0 ? "" : `${calculateProgress(row)}%`}
          isFailed={findState(row).mark === "stop"}
        />
      ),
    },
    {
      id: "requests",
      header: t("requests"),
      width: 96,
      rank: 3,
      align: "end",
      sort: "total",
      cell: (row) => formatCount(row.total, language),
    },
    money("deposit", 4),
    money("charged", 1),
    money("saved", 3),
  ];
}
