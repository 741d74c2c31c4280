import type { Drawing } from "@fairway/wire";
import { formatElapsed } from "../../lib/format.ts";
import { useNow } from "../../lib/now.ts";
import type { Column } from "../../ui/grid/grid-props.ts";
import { Graded, Mark } from "../../ui/display/mark.tsx";
import { Progress } from "../../ui/feedback/progress.tsx";
import { Stamp } from "../../ui/display/stamp.tsx";
import { ACTIONS, isUnderWay, calculateDuration, findResult, findStatus } from "./state.ts";
import type { useTexts } from "./texts.ts";
import { Thumbnail } from "./thumbnail.tsx";

type Translate = ReturnType<typeof useTexts>;

/** A drawing that takes longer is slow. */
const SLOW_SECONDS = 60;

function DurationCell({ row }: { readonly row: Drawing }) {
  const now = useNow();
  const isOpen = isUnderWay(row);
  if (row.submit_time <= 0 || (row.finish_time <= 0 && !isOpen)) return <span className="soft">–</span>;
  const length = calculateDuration(row, now);
  return <Graded grade={isOpen ? "grey" : length > SLOW_SECONDS ? "red" : "green"} text={formatElapsed(length)} />;
}

export function actionText(action: string, t: Translate): string {
  const known = ACTIONS[action as keyof typeof ACTIONS];
  return known === undefined ? action : t(known);
}

function LongText({ text }: { readonly text: string }) {
  return text === "" ? (
    <span className="soft">–</span>
  ) : (
    <span className="cut drawing-text" title={text}>
      {text}
    </span>
  );
}

export function drawingColumns(t: Translate, isAdmin: boolean, onImage: (row: Drawing) => void): Column<Drawing>[] {
  const channel: Column<Drawing> = {
    id: "channel",
    header: t("channel"),
    width: 70,
    rank: 8,
    sort: "channel_id",
    isMinor: true,
    cell: (row) => row.channel_id || <span className="soft">–</span>,
  };
  const result: Column<Drawing> = {
    id: "result",
    header: t("submitResult"),
    width: 116,
    rank: 4,
    isMinor: true,
    cell: (row) => <Mark kind={findResult(row).mark} label={t(findResult(row).text)} />,
  };
  return [
    {
      id: "time",
      header: t("submitted"),
      width: 114,
      sort: "submit_time",
      cell: (row) => <Stamp at={row.submit_time / 1_000} />,
    },
    {
      id: "duration",
      header: t("duration"),
      width: 76,
      rank: 7,
      isMinor: true,
      cell: (row) => <DurationCell row={row} />,
    },
    ...(isAdmin ? [channel] : []),
    {
      id: "action",
      header: t("action"),
      width: 84,
      sort: "action",
      isTitle: true,
      cell: (row) => <span className="nowrap">{actionText(row.action, t)}</span>,
    },
    {
      id: "id",
      header: t("taskId"),
      width: 94,
      rank: 3,
      isMinor: true,
      cell: (row) => (
        <span className="cut mono drawing-id" title={row.mj_id}>
          {row.mj_id}
        </span>
      ),
    },
    ...(isAdmin ? [result] : []),
    {
      id: "status",
      header: t("status"),
      width: 104,
      sort: "status",
      cell: (row) => <Mark kind={findStatus(row).mark} label={t(findStatus(row).text)} />,
    },
    {
      id: "progress",
      header: t("progress"),
      width: 110,
      cell: (row) => <Progress label={t("progress")} text={row.progress} isFailed={row.status === "FAILURE"} />,
    },
    { id: "image", header: t("image"), width: 60, cell: (row) => <Thumbnail row={row} onOpen={onImage} /> },
    { id: "prompt", header: t("prompt"), width: 110, isElastic: true, cell: (row) => <LongText text={row.prompt} /> },
    {
      id: "failure",
      header: t("failure"),
      width: 110,
      rank: 7,
      isMinor: true,
      cell: (row) => <LongText text={row.fail_reason} />,
    },
  ];
}
