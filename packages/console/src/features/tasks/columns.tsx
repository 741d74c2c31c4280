import type { AsyncTask } from "@fairway/wire";
import { formatElapsed } from "../../lib/format.ts";
import { useNow } from "../../lib/now.ts";
import type { Column } from "../../ui/grid/grid-props.ts";
import { Mark } from "../../ui/display/mark.tsx";
import { Progress } from "../../ui/feedback/progress.tsx";
import { Stamp } from "../../ui/display/stamp.tsx";
import { ACTIONS, isUnderWay, calculateDuration, findStatus } from "./state.ts";
import type { useTexts } from "./texts.ts";

type Translate = ReturnType<typeof useTexts>;

function DurationCell({ row, t }: { readonly row: AsyncTask; readonly t: Translate }) {
  const now = useNow();
  const isOpen = isUnderWay(row);
  if (row.submit_time <= 0 || (row.finish_time <= 0 && !isOpen)) return <span className="soft">–</span>;
  const text = formatElapsed(calculateDuration(row, now));
  return <span className="nowrap">{isOpen ? `${text} ${t("durationSoFar")}` : text}</span>;
}

export function actionText(action: string, t: Translate): string {
  const known = ACTIONS[action as keyof typeof ACTIONS];
  return known === undefined ? action : t(known);
}

export function taskColumns(t: Translate, isAdmin: boolean, onOpen: (row: AsyncTask) => void): Column<AsyncTask>[] {
  const channel: Column<AsyncTask> = {
    id: "channel",
    header: t("channel"),
    width: 76,
    rank: 5,
    sort: "channel_id",
    isMinor: true,
    cell: (row) => row.channel_id || <span className="soft">–</span>,
  };
  return [
    {
      id: "submitted",
      header: t("submitted"),
      width: 120,
      sort: "submit_time",
      cell: (row) => <Stamp at={row.submit_time} />,
    },
    {
      id: "finished",
      header: t("finished"),
      width: 120,
      rank: 4,
      sort: "finish_time",
      isMinor: true,
      cell: (row) => <Stamp at={row.finish_time} />,
    },
    {
      id: "duration",
      header: t("duration"),
      width: 92,
      rank: 3,
      isMinor: true,
      cell: (row) => <DurationCell row={row} t={t} />,
    },
    ...(isAdmin ? [channel] : []),
    { id: "platform", header: t("platform"), width: 84, cell: (row) => row.platform },
    {
      id: "action",
      header: t("action"),
      width: 120,
      sort: "action",
      isTitle: true,
      cell: (row) => actionText(row.action, t),
    },
    {
      id: "id",
      header: t("taskId"),
      width: 200,
      cell: (row) => (
        <button
          type="button"
          className="task-id cut mono"
          title={t("openTask", { id: row.task_id })}
          onClick={() => onOpen(row)}
        >
          {row.task_id || "–"}
        </button>
      ),
    },
    {
      id: "status",
      header: t("status"),
      width: 110,
      sort: "status",
      cell: (row) => <Mark kind={findStatus(row).mark} label={t(findStatus(row).text)} />,
    },
    {
      id: "progress",
      header: t("progress"),
      width: 120,
      cell: (row) => <Progress label={t("progress")} text={row.progress} isFailed={row.status === "FAILURE"} />,
    },
    {
      id: "failure",
      header: t("failure"),
      width: 150,
      rank: 2,
      isMinor: true,
      cell: (row) =>
        row.fail_reason === "" ? (
          <span className="soft">–</span>
        ) : (
          <span className="cut" title={row.fail_reason}>
            {row.fail_reason}
          </span>
        ),
    },
  ];
}
