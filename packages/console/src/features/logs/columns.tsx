import type { LogRow } from "@fairway/wire";
import { formatCount, milliseconds, seconds } from "../../lib/format.ts";
import { currentLanguage } from "../../lib/i18n.ts";
import { logNote } from "../../lib/server/server-messages.ts";
import type { Column } from "../../ui/grid/grid-props.ts";
import { Graded, Mark } from "../../ui/display/mark.tsx";
import { Money } from "../../ui/display/money.tsx";
import { Stamp } from "../../ui/display/stamp.tsx";
import { findFailureText, type TranslateFailure } from "../../shared/failures/reasons.ts";
import { describeCut } from "./cut.ts";
import { durationGrade, firstTokenGrade } from "./grades.ts";
import { isConsumption, isFailure, findKind } from "./kinds.ts";
import { readOther } from "./other.ts";
import type { useTexts } from "./texts.ts";

type Translate = ReturnType<typeof useTexts>;

interface TextsProps {
  readonly t: Translate;
  readonly say: TranslateFailure;
}

interface RowProps extends TextsProps {
  readonly row: LogRow;
}
function TypeMark({ row, t, say }: RowProps) {
  const { mark: usual, text } = findKind(row.type) ?? { mark: "unknown", text: "unknown" };
  const mark = isConsumption(row) && describeCut(readOther(row.other), say) !== undefined ? "caution" : usual;
  return <Mark kind={mark} label={t(text)} title={t(text)} />;
}

function ChannelCell({ row, t }: { readonly row: LogRow; readonly t: Translate }) {
  const chain = readOther(row.other).admin_info?.use_channel ?? [];
  if (row.channel === 0 && chain.length === 0) return <span className="soft">–</span>;
  const retries = chain.length - 1;
  return (
    <span className="channel-cell log-name">
      <span className="cut" title={row.channel_name}>
        <span className="soft">{row.channel}</span> {row.channel_name}
      </span>
      {retries > 0 && (
        <span className="retry" title={t("retried", { count: retries, chain: chain.join(" → ") })}>
          {`↻${retries}`}
        </span>
      )}
    </span>
  );
}

export function Durations({ row, t }: { readonly row: LogRow; readonly t: Translate }) {
  const { frt, ms } = readOther(row.other);
  if (isFailure(row) && ms > 0) return <span className="nowrap">{milliseconds(ms)}</span>;
  if (!isConsumption(row)) return <span className="soft">–</span>;
  return (
    <span className="durations">
      <Graded grade={durationGrade(row.use_time)} text={row.use_time === 0 ? "< 1 s" : `${row.use_time} s`} />
      {row.is_stream && frt > 0 && (
        <Graded grade={firstTokenGrade(frt)} text={seconds(frt)} title={t("firstToken", { time: seconds(frt) })} />
      )}
      {row.is_stream && <span className="soft spare">{t("stream")}</span>}
    </span>
  );
}

function NameCell({ name }: { readonly name: string }) {
  if (name === "") return <span className="soft">–</span>;
  return (
    <span className="cut log-name" title={name}>
      {name}
    </span>
  );
}

/** Status, model and reason of a failed call. */
function FailureCell({ row, t, say }: RowProps) {
  const other = readOther(row.other);
  const { status_code: status, error_code: code, repeated } = other;
  const reason = findFailureText(other, say) ?? row.content;
  const more = repeated > 0 ? ` · ${t("repeatedCount", { count: repeated })}` : "";
  return (
    <span className="log-failure" title={`${row.content}${code === undefined ? "" : ` (${code})`}`}>
      {status > 0 && <span className="log-status">{status}</span>}
      {row.model_name !== "" && <span className="mono cut">{row.model_name}</span>}
      <span className="log-reason">
        {reason}
        {more}
      </span>
    </span>
  );
}

/** Shows the model of a call, or the text of a row that is not a call. */
function ModelCell({ row, t, say }: RowProps) {
  if (isFailure(row)) return <FailureCell row={row} t={t} say={say} />;
  const cut = describeCut(readOther(row.other), say);
  if (isConsumption(row) && cut !== undefined)
    return (
      <span className="log-failure is-cut" title={cut}>
        <span className="mono cut">{row.model_name}</span>
        <span className="log-reason">{cut}</span>
      </span>
    );
  if (isConsumption(row))
    return (
      <span className="cut mono" title={row.model_name}>
        {row.model_name}
      </span>
    );
  return (
    <span className="cut" title={logNote(row.content)}>
      {logNote(row.content)}
    </span>
  );
}

function countCell(row: LogRow, value: number) {
  return isConsumption(row) ? formatCount(value, currentLanguage()) : <span className="soft">–</span>;
}

function UserCell(props: { readonly row: LogRow; onOpen(row: LogRow): void }) {
  const { row, onOpen } = props;
  if (row.username === "" || row.user_id <= 0) return <NameCell name={row.username} />;
  return (
    <button type="button" className="link cut log-name" title={row.username} onClick={() => onOpen(row)}>
      {row.username}
    </button>
  );
}

/** Tags and end user of a call. */
function TagsCell({ row }: { readonly row: LogRow }) {
  const parts = [...row.tags.split("|"), row.end_user].filter((part) => part !== "");
  if (parts.length === 0) return <span className="soft">–</span>;
  const text = parts.join(", ");
  return (
    <span className="cut log-name" title={text}>
      <bdi>{text}</bdi>
    </span>
  );
}

interface ColumnsInput extends TextsProps {
  readonly isAdmin: boolean;
  /** True if a row of the page has a tag or an end user: without them the column says nothing. */
  readonly hasTags: boolean;
  onUser(row: LogRow): void;
}

export function logColumns({ t, say, isAdmin, hasTags, onUser }: ColumnsInput): Column<LogRow>[] {
  const adminOnly: Column<LogRow>[] = [
    {
      id: "channel",
      header: t("channel"),
      width: 104,
      rank: 4,
      cell: (row) => <ChannelCell row={row} t={t} />,
    },
    {
      id: "user",
      header: t("user"),
      width: 80,
      rank: 3,
      cell: (row) => <UserCell row={row} onOpen={onUser} />,
    },
  ];
  const tags: Column<LogRow> = {
    id: "tags",
    header: t("tags"),
    width: 96,
    rank: 2,
    isMinor: true,
    cell: (row) => <TagsCell row={row} />,
  };
  return [
    { id: "time", header: t("time"), width: 110, cell: (row) => <Stamp at={row.created_at} /> },
    ...(isAdmin ? adminOnly : []),
    { id: "token", header: t("token"), width: 88, cell: (row) => <NameCell name={row.token_name} /> },
    {
      id: "type",
      header: t("type"),
      width: 40,
      rank: 5,
      isMinor: true,
      cell: (row) => <TypeMark row={row} t={t} say={say} />,
    },
    {
      id: "model",
      header: t("model"),
      width: 180,
      rank: 0,
      isTitle: true,
      isElastic: true,
      cell: (row) => <ModelCell row={row} t={t} say={say} />,
    },
    ...(hasTags ? [tags] : []),
    {
      id: "duration",
      header: t("duration"),
      width: 112,
      rank: 2,
      isMinor: true,
      cell: (row) => <Durations row={row} t={t} />,
    },
    {
      id: "input",
      header: t("input"),
      width: 50,
      rank: 6,
      align: "end",
      isMinor: true,
      cell: (row) => countCell(row, row.prompt_tokens),
    },
    {
      id: "output",
      header: t("output"),
      width: 50,
      rank: 6,
      align: "end",
      isMinor: true,
      cell: (row) => countCell(row, row.completion_tokens),
    },
    {
      id: "cost",
      header: t("cost"),
      width: 88,
      rank: 0,
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
