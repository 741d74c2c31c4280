import { LOG_TYPE, type LogRow } from "@fairway/wire";
import { Button, Flex } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { Suspense, useEffect, useMemo, useRef, useState } from "react";
import { Link } from "react-router";
import { isAdmin as isAdminUser, useUser } from "../../session/session.ts";
import { nowSeconds } from "../../lib/now.ts";
import { useTexts as useFailureTexts } from "../../shared/failures/texts.ts";
import { formatCount } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { stored } from "../../lib/storage.ts";
import { useMedia } from "../../lib/use-media.ts";
import { DetailToggle } from "../../ui/grid/detail-toggle.tsx";
import { EmptyTeach } from "../../ui/feedback/empty.tsx";
import { Money } from "../../ui/display/money.tsx";
import { ListPage } from "../../ui/list/list-page.tsx";
import { usePeek } from "../../ui/peek/use-peek.ts";
import { logsQuery, refreshLogs, statQuery, type LogFilter } from "./api.ts";
import { logColumns } from "./columns.tsx";
import { ExportButton } from "./export-button.tsx";
import { Facets } from "./facets/facets.tsx";
import { Histogram } from "./histogram/histogram.tsx";
import { NewCalls } from "./live/pill.tsx";
import { unseen, withTail } from "./live/tail.ts";
import { useTail } from "./live/use-tail.ts";
import "./logs.css";
import { findIndexByKey, buildRowKey } from "./peek/row-key.ts";
import { useTexts } from "./texts.ts";
import { Toolbar } from "./toolbar.tsx";
import { useLogList } from "./use-log-list.ts";
import { lateNeeded, lateOverlay } from "../../ui/late/late.tsx";

const FacetSheet = lateOverlay(async () => (await import("./facets/facet-sheet.tsx")).FacetSheet);
const UserDialog = lateOverlay(async () => (await import("./user/user-dialog.tsx")).UserDialog);
const Peek = lateNeeded(async () => (await import("./peek/peek.tsx")).Peek);

function Totals(props: { readonly filter: LogFilter; readonly isAdmin: boolean; readonly isLive: boolean }) {
  const t = useTexts();
  const language = useLanguage();
  const { data } = useQuery(statQuery(props.filter, props));
  if (!data || !isSpending(props.filter)) return null;
  const spend = (
    <span>
      {t("spend")}{" "}
      <strong>
        <Money quota={data.quota} />
      </strong>
    </span>
  );
  if (isOver(props.filter)) return <div className="log-totals">{spend}</div>;
  return (
    <div className="log-totals">
      {spend}
      <span title={t("rpmHelp")}>
        {t("rpm")} <strong>{formatCount(data.rpm, language)}</strong>
      </span>
      <span title={t("tpmHelp")}>
        {t("tpm")} <strong>{formatCount(data.tpm, language)}</strong>
      </span>
    </div>
  );
}

function Teach({ onOlder }: { onOlder(): void }) {
  const t = useTexts();
  return (
    <EmptyTeach icon="log" title={t("emptyTitle")} body={t("emptyBody")}>
      <Flex gap="2" wrap="wrap" justify="center">
        <Button asChild>
          <Link to="/token">{t("emptyAction")}</Link>
        </Button>
        <Button variant="outline" onClick={onOlder}>
          {t("emptyOlder")}
        </Button>
      </Flex>
    </EmptyTeach>
  );
}

/** Returns whether an element is visible; true until that is known. */
function useIsInSight<E extends HTMLElement>() {
  const element = useRef<E>(null);
  const [isInSight, setInSight] = useState(true);
  useEffect(() => {
    if (!element.current) return;
    const observer = new IntersectionObserver(([entry]) => entry && setInSight(entry.isIntersecting));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return [element, isInSight] as const;
}

/** Shows the facets next to the list if there is room, otherwise in a sheet that is opened by hand. */
function useFacetPanel(address: boolean | undefined) {
  const isInline = useMedia("(min-width: 1200px)");
  const isWide = useMedia("(min-width: 1440px)");
  const usual = isInline && (stored.logFacets.read() ?? (isWide ? "open" : "closed")) === "open";
  return { isInline, isOpen: address ?? usual };
}

/** The sums cover consumption, so they say nothing about a list of other rows. */
function isSpending({ type }: LogFilter): boolean {
  return type === "" || type === String(LOG_TYPE.unknown) || type === String(LOG_TYPE.consume);
}

/** Returns true if the list does not include the last minute. */
function isOver(filter: LogFilter): boolean {
  return filter.range === "custom" && filter.to !== "" && Number(filter.to) < nowSeconds();
}

export function LogsPage() {
  const t = useTexts();
  const say = useFailureTexts();
  const isAdmin = isAdminUser(useUser());
  const address = useLogList();
  const { list, filter, go, replace } = address;
  const { page, size } = list;
  const isPast = isOver(filter);
  const isLive = address.isLive && page === 1 && !isPast;
  const [isPaused, setPaused] = useState(false);
  const [top, isTopInSight] = useIsInSight<HTMLDivElement>();
  const facets = useFacetPanel(address.facets);
  const isHeld = isPaused || !isTopInSight || address.row !== "";
  const { tail, connection, release } = useTail({ filter, isAdmin, isOn: isLive, isHeld });
  const { data, error, isFetching, refetch } = useQuery(logsQuery(filter, { page, size }, isAdmin));
  const rows = useMemo(() => data && withTail(tail, data.items, isAdmin), [data, tail, isAdmin]);
  const [user, setUser] = useState<LogRow>();
  const hasTags = rows?.some((row) => row.tags !== "" || row.end_user !== "") ?? false;
  const columns = useMemo(() => logColumns({ t, say, isAdmin, hasTags, onUser: setUser }), [t, say, isAdmin, hasTags]);
  const peek = usePeek({
    rows,
    getRowKey: (row: LogRow) => buildRowKey(row, isAdmin),
    findRowIndex: (all, key) => findIndexByKey(all, key, isAdmin),
  });
  const openedId = peek.listed?.id;
  const toggleFacets = (isOpen: boolean) => {
    if (facets.isInline) stored.logFacets.write(isOpen ? "open" : "closed");
    replace({ facets: isOpen ? "1" : "0" });
  };
  const facetProps = { filter, isAdmin, onFilter: (change: Partial<LogFilter>) => go({ ...change, p: "" }) };
  const isHuge = useMedia("(min-width: 1800px)");
  const isSideBySide = facets.isOpen && facets.isInline && (address.row === "" || isHuge);

  return (
    <div className={isSideBySide ? "log-page has-facets" : "log-page"}>
      <ListPage
        title={t("title")}
        aside={<Totals filter={filter} isAdmin={isAdmin} isLive={isLive} />}
        pageActions={<ExportButton filter={filter} isAdmin={isAdmin} />}
        filters={
          <>
            <Toolbar
              filter={filter}
              isAdmin={isAdmin}
              isFiltered={list.isFiltered}
              onFilter={list.filter}
              onClear={list.clear}
              areFacetsOpen={facets.isOpen}
              onFacets={() => toggleFacets(!facets.isOpen)}
              live={{ isOn: isLive, isPaused, isLost: connection === "lost" }}
              isPast={isPast}
              onLive={() => {
                setPaused(false);
                replace(isLive ? { live: "" } : { live: "1", p: "" });
              }}
              onPause={() => {
                if (isPaused) release();
                setPaused(!isPaused);
              }}
              onRefresh={() => void refreshLogs()}
            />
            {filter.request === "" && (
              <Histogram
                filter={filter}
                isAdmin={isAdmin}
                isLive={isLive}
                onNarrow={(from, to) => go({ range: "custom", from: String(from), to: String(to), p: "" })}
                onErrors={() => go({ type: String(LOG_TYPE.error), p: "" })}
              />
            )}
            <div ref={top} />
            <NewCalls
              count={isLive ? unseen(tail) : 0}
              onShow={() => {
                if (tail.missed > 0) void refetch();
                release();
                top.current?.scrollIntoView({ block: "center" });
              }}
            />
            {isSideBySide && (
              <aside className="log-facets" aria-label={t("facets")}>
                <Facets {...facetProps} />
              </aside>
            )}
          </>
        }
        list={list}
        query={{ data: rows && { rows, total: data?.total ?? 0 }, error, isFetching, refetch }}
        gridClass={isAdmin ? "log-grid log-grid-wide" : "log-grid"}
        columns={columns}
        rowId={(row) => row.id}
        rowName={(row) => row.request_id || row.content}
        density="compact"
        onOpen={peek.open}
        opened={openedId}
        actions={(row: LogRow) => <DetailToggle isOpen={row.id === openedId} onToggle={() => peek.toggle(row)} />}
        teach={<Teach onOlder={() => list.filter({ range: "30d" })} />}
      >
        <Suspense>
          {facets.isOpen && !facets.isInline && <FacetSheet {...facetProps} onClose={() => toggleFacets(false)} />}
          {user && (
            <UserDialog
              id={user.user_id}
              name={user.username}
              onCalls={() => {
                setUser(undefined);
                go({ user: user.username, p: "" });
              }}
              onClose={() => setUser(undefined)}
            />
          )}
          {address.row !== "" && <Peek key="peek" peek={peek} isAdmin={isAdmin} />}
        </Suspense>
      </ListPage>
    </div>
  );
}
