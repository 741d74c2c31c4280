import { CopyButton } from "../../ui/content/copy-button.tsx";
import { Mark, type MarkKind } from "../../ui/display/mark.tsx";
import { Stamp } from "../../ui/display/stamp.tsx";
import type { Column } from "../../ui/grid/grid-props.ts";
import type { StoredFile } from "@fairway/wire";
import { formatSize } from "./size.ts";
import type { useTexts } from "./texts.ts";

type Translate = ReturnType<typeof useTexts>;

/** States of a file, in the order of the filter. */
export const STATES = {
  ready: { mark: "go", text: "ready" },
  sending: { mark: "underway", text: "sending" },
  failed: { mark: "stop", text: "failed" },
  lost: { mark: "stop", text: "lost" },
  expired: { mark: "parked", text: "expired" },
  deleting: { mark: "caution", text: "deleting" },
} as const satisfies Record<string, { mark: MarkKind; text: string }>;

function State({ row, t }: { readonly row: StoredFile; readonly t: Translate }) {
  const state = STATES[row.state as keyof typeof STATES] as (typeof STATES)[keyof typeof STATES] | undefined;
  return state ? <Mark kind={state.mark} label={t(state.text)} /> : <Mark kind="unknown" label={row.state} />;
}

interface ColumnSettings {
  readonly t: Translate;
  readonly language: string;
  readonly isAdmin: boolean;
}

export function fileColumns({ t, language, isAdmin }: ColumnSettings): Column<StoredFile>[] {
  const number = (id: "user_id" | "channel_id", header: string): Column<StoredFile> => ({
    id,
    header,
    width: 76,
    rank: 4,
    sort: id,
    cell: (row) => row[id] || <span className="soft">–</span>,
  });
  return [
    {
      id: "name",
      header: t("name"),
      width: 190,
      isElastic: true,
      isTitle: true,
      sort: "name",
      cell: (row) => (
        <span className="cut" title={row.name}>
          <bdi>{row.name || "–"}</bdi>
        </span>
      ),
    },
    {
      id: "id",
      header: t("fileId"),
      width: 170,
      rank: 3,
      cell: (row) => (
        <span className="file-id">
          <span className="cut mono">{row.id}</span>
          <CopyButton text={row.id} label={t("copyId", { id: row.id })} />
        </span>
      ),
    },
    {
      id: "purpose",
      header: t("purpose"),
      width: 110,
      sort: "purpose",
      cell: (row) => row.purpose || <span className="soft">–</span>,
    },
    { id: "protocol", header: t("protocol"), width: 92, rank: 4, isMinor: true, cell: (row) => row.dialect },
    {
      id: "size",
      header: t("size"),
      width: 92,
      align: "end",
      sort: "bytes",
      cell: (row) => <span className="nowrap">{formatSize(row.bytes, language)}</span>,
    },
    { id: "state", header: t("state"), width: 110, sort: "state", cell: (row) => <State row={row} t={t} /> },
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
      id: "expires",
      header: t("expires"),
      width: 120,
      rank: 1,
      sort: "expires_at",
      cell: (row) =>
        row.expires_at === 0 ? <span className="soft">{t("never")}</span> : <Stamp at={row.expires_at} />,
    },
  ];
}
