import type { Drawing } from "@fairway/wire";
import { Button } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { Suspense, useMemo, useState } from "react";
import { Link } from "react-router";
import { isAdmin as isAdminUser, useUser } from "../../session/session.ts";
import { useStatus } from "../../session/status.ts";
import { TaskFilters } from "../../shared/tasks/task-filters.tsx";
import { CopyButton } from "../../ui/content/copy-button.tsx";
import { DetailToggle } from "../../ui/grid/detail-toggle.tsx";
import { EmptyTeach } from "../../ui/feedback/empty.tsx";
import { Facts } from "../../ui/display/facts.tsx";
import { Money } from "../../ui/display/money.tsx";
import { NoticeBar } from "../../ui/feedback/notice-bar.tsx";
import { Page } from "../../ui/display/page.tsx";
import { Stamp } from "../../ui/display/stamp.tsx";
import { SwitchedOff } from "../../ui/feedback/switched-off.tsx";
import { ListPage } from "../../ui/list/list-page.tsx";
import { LIST_DEFAULTS, useList } from "../../ui/grid/use-list.ts";
import { useOpened } from "../../ui/grid/use-opened.ts";
import { drawingsQuery } from "./api.ts";
import { actionText, drawingColumns } from "./columns.tsx";
import "./drawing.css";
import { useTexts } from "./texts.ts";
import { lateOverlay } from "../../ui/late/late.tsx";

const Lightbox = lateOverlay(async () => (await import("./lightbox.tsx")).Lightbox);

const DEFAULTS = { ...LIST_DEFAULTS, id: "", channel: "", range: "30d", from: "", to: "" };

function Detail({ row }: { readonly row: Drawing }) {
  const t = useTexts();
  return (
    <div className="facts">
      <Facts
        title={t("detail")}
        items={[
          [
            t("taskId"),
            <>
              <code className="mono">{row.mj_id}</code> <CopyButton text={row.mj_id} label={t("copyId")} />
            </>,
          ],
          [t("action"), actionText(row.action, t)],
          [t("prompt"), row.prompt],
          [t("promptEn"), row.prompt_en],
          [t("failure"), row.fail_reason],
          [t("state"), row.state],
        ]}
      />
      <Facts
        title={t("times")}
        items={[
          [t("created"), <Stamp at={row.created_at} />],
          [t("started"), <Stamp at={row.start_time / 1_000} />],
          [t("finished"), <Stamp at={row.finish_time / 1_000} />],
          [t("charge"), <Money quota={row.quota} isPrecise />],
        ]}
      />
    </div>
  );
}

function Drawings() {
  const t = useTexts();
  const isAdmin = isAdminUser(useUser());
  const { mj_notify_enabled: isNotified } = useStatus();
  const list = useList(DEFAULTS);
  const { state, page, size } = list;
  const { id, channel, range, from, to, sort } = state;
  const { data, error, isFetching, refetch } = useQuery(
    drawingsQuery({ page, size, sort, id, channel, range, from, to }, isAdmin),
  );
  const { opened, toggle } = useOpened<Drawing>();
  const [shown, setShown] = useState<Drawing>();
  const columns = useMemo(() => drawingColumns(t, isAdmin, setShown), [t, isAdmin]);
  return (
    <ListPage
      title={t("title")}
      notice={
        isAdmin &&
        !isNotified && (
          <NoticeBar icon="warning" hue="cardinal" dismiss={{ id: "drawing-notify", label: t("dismiss") }}>
            {t("notify")}
          </NoticeBar>
        )
      }
      filters={<TaskFilters list={list} isAdmin={isAdmin} usual="30d" onRefresh={() => void refetch()} />}
      list={list}
      query={{ data, error, isFetching, refetch }}
      columns={columns}
      rowId={(row) => row.id}
      rowName={(row) => row.mj_id}
      onOpen={toggle}
      opened={opened}
      detail={(row) => <Detail row={row} />}
      actions={(row) => <DetailToggle isOpen={opened === row.id} onToggle={() => toggle(row)} />}
      teach={
        <EmptyTeach icon="image" title={t("emptyTitle")} body={t("emptyBody")}>
          <Button asChild>
            <Link to="/token">{t("emptyAction")}</Link>
          </Button>
        </EmptyTeach>
      }
    >
      <Suspense>{shown && <Lightbox row={shown} onClose={() => setShown(undefined)} />}</Suspense>
    </ListPage>
  );
}

/** Images in progress, and finished ones. */
export function DrawingPage() {
  const t = useTexts();
  const { enable_drawing: isOn } = useStatus();
  if (isOn) return <Drawings />;
  return (
    <Page title={t("title")}>
      <SwitchedOff name={t("title")} icon="image" />
    </Page>
  );
}
