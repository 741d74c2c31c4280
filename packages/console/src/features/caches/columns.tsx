import { formatCount } from "../../lib/format.ts";
import { CopyButton } from "../../ui/content/copy-button.tsx";
import { Money } from "../../ui/display/money.tsx";
import { Stamp } from "../../ui/display/stamp.tsx";
import type { Column } from "../../ui/grid/grid-props.ts";
import type { StoredCache } from "@fairway/wire";
import type { useTexts } from "./texts.ts";

interface ColumnSettings {
  readonly t: ReturnType<typeof useTexts>;
  readonly language: string;
  readonly isAdmin: boolean;
}

export function cacheColumns({ t, language, isAdmin }: ColumnSettings): Column<StoredCache>[] {
  const number = (id: "user_id" | "channel_id", header: string): Column<StoredCache> => ({
    id,
    header,
    width: 76,
    rank: 4,
    sort: id,
    cell: (row) => row[id] || <span className="soft">–</span>,
  });
  const money = (id: "storage" | "deposit", rank: number): Column<StoredCache> => ({
    id,
    header: t(id),
    width: 110,
    rank,
    align: "end",
    cell: (row) => <Money quota={row[id]} isPrecise />,
  });
  return [
    {
      id: "model",
      header: t("model"),
      width: 170,
      isElastic: true,
      isTitle: true,
      sort: "model",
      cell: (row) => (
        <span className="cut" title={row.model}>
          {row.model}
        </span>
      ),
    },
    {
      id: "id",
      header: t("cacheId"),
      width: 170,
      rank: 3,
      cell: (row) => (
        <span className="cache-id">
          <span className="cut mono">{row.id}</span>
          <CopyButton text={`cachedContents/${row.id}`} label={t("copyId", { id: row.id })} />
        </span>
      ),
    },
    {
      id: "tokens",
      header: t("tokens"),
      width: 96,
      align: "end",
      sort: "tokens",
      cell: (row) => formatCount(row.tokens, language),
    },
    money("storage", 1),
    money("deposit", 4),
    ...(isAdmin ? [number("user_id", t("user")), number("channel_id", t("channel"))] : []),
    {
      id: "created",
      header: t("created"),
      width: 120,
      rank: 2,
      sort: "created_at",
      cell: (row) => <Stamp at={row.created_at} />,
    },
    {
      id: "ends",
      header: t("ends"),
      width: 120,
      sort: "ends_at",
      cell: (row) => <Stamp at={row.ends_at} />,
    },
  ];
}
