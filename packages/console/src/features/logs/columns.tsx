import { LOG_TYPE, type LogRow } from "@fairway/wire";
import { formatCount, seconds } from "../../lib/format.ts";
import { currentLanguage } from "../../lib/i18n.ts";
import type { Column } from "../../ui/data-grid.tsx";
import { Graded, Mark, type MarkKind } from "../../ui/mark.tsx";
import { Money } from "../../ui/money.tsx";
import { Stamp } from "../../ui/stamp.tsx";
import { durationGrade, firstTokenGrade } from "./grades.ts";
import { readOther } from "./other.ts";
import type { useTexts } from "./texts.ts";

type Translate = ReturnType<typeof useTexts>;
type TypeKey = "topup" | "consume" | "manage" | "system";

const TYPES: Record<number, { mark: MarkKind; text: TypeKey }> = {
  [LOG_TYPE.unknown]: { mark: "go", text: "consume" },
  [LOG_TYPE.topup]: { mark: "underway", text: "topup" },
  [LOG_TYPE.consume]: { mark: "go", text: "consume" },
  [LOG_TYPE.manage]: { mark: "parked", text: "manage" },
  [LOG_TYPE.system]: { mark: "caution", text: "system" },
};

/** Rows of type 0 come from older versions and are consumption too. */
export function isConsumption(row: LogRow): boolean {
  return row.type === LOG_TYPE.consume || row.type === LOG_TYPE.unknown;
}

function ChannelCell({ row, t }: { readonly row: LogRow; readonly t: Translate }) {
  const chain = readOther(row.other).admin_info?.use_channel ?? [];
  if (row.channel === 0 && chain.length === 0) return <span className="soft">–</span>;
  const retries = chain.length - 1;
  return (
    <span className="cut" title={row.channel_name}>
      <span className="soft">{row.channel}</span> {row.channel_name}
      {retries > 0 && (
        <span className="retry" title={t("retried", { count: retries, chain: chain.join(" → ") })}>
          {` ↻${retries}`}
        </span>
      )}
    </span>
  );
}

function DurationCell({ row, t }: { readonly row: LogRow; readonly t: Translate }) {
  const { frt } = readOther(row.other);
  if (!isConsumption(row)) return <span className="soft">–</span>;
  return (
    <span className="durations">
      <Graded grade={durationGrade(row.use_time)} text={`${row.use_time} s`} />
      {row.is_stream && frt > 0 && (
        <Graded grade={firstTokenGrade(frt)} text={seconds(frt)} title={t("firstToken", { time: seconds(frt) })} />
      )}
      {row.is_stream && <span className="soft">{t("stream")}</span>}
    </span>
  );
}

function countCell(row: LogRow, value: number) {
  return isConsumption(row) ? formatCount(value, currentLanguage()) : <span className="soft">–</span>;
}

export function logColumns(t: Translate, isAdmin: boolean): Column<LogRow>[] {
  const adminOnly: Column<LogRow>[] = [
    { id: "channel", header: t("channel"), isMinor: true, cell: (row) => <ChannelCell row={row} t={t} /> },
    { id: "user", header: t("user"), isMinor: true, cell: (row) => <span className="cut">{row.username}</span> },
  ];
  return [
    { id: "time", header: t("time"), cell: (row) => <Stamp at={row.created_at} /> },
    ...(isAdmin ? adminOnly : []),
    {
      id: "token",
      header: t("token"),
      cell: (row) => <span className="cut">{row.token_name || <span className="soft">–</span>}</span>,
    },
    {
      id: "type",
      header: t("type"),
      isMinor: true,
      cell: (row) => {
        const type = TYPES[row.type] ?? { mark: "unknown" as const, text: "system" as const };
        return <Mark kind={type.mark} label={t(type.text)} />;
      },
    },
    {
      id: "model",
      header: t("model"),
      isTitle: true,
      cell: (row) =>
        isConsumption(row) ? (
          <span className="cut mono">{row.model_name}</span>
        ) : (
          <span className="cut" title={row.content}>
            {row.content}
          </span>
        ),
    },
    { id: "duration", header: t("duration"), isMinor: true, cell: (row) => <DurationCell row={row} t={t} /> },
    { id: "input", header: t("input"), align: "end", isMinor: true, cell: (row) => countCell(row, row.prompt_tokens) },
    {
      id: "output",
      header: t("output"),
      align: "end",
      isMinor: true,
      cell: (row) => countCell(row, row.completion_tokens),
    },
    {
      id: "cost",
      header: t("cost"),
      align: "end",
      cell: (row) =>
        row.quota === 0 && !isConsumption(row) ? (
          <span className="soft">–</span>
        ) : (
          <span className="strong">
            <Money quota={row.quota} isPrecise />
          </span>
        ),
    },
  ];
}
