import { Button } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link } from "react-router";
import { useLanguage } from "../../lib/i18n.ts";
import { isAdmin as isAdminUser, useUser } from "../../session/session.ts";
import { EmptyTeach } from "../../ui/feedback/empty.tsx";
import { ask } from "../../ui/feedback/ask.ts";
import { toast, toastProblem } from "../../ui/feedback/toaster.ts";
import { FilterBar, FilterText } from "../../ui/grid/filter-bar.tsx";
import { LIST_DEFAULTS, useList } from "../../ui/grid/use-list.ts";
import { ListPage } from "../../ui/list/list-page.tsx";
import { RowMenu } from "../../ui/menu/row-menu.tsx";
import type { StoredCache } from "@fairway/wire";
import { ChannelFilter } from "../../shared/channels/channel-filter.tsx";
import { cachesQuery, deleteCache } from "./api.ts";
import { cacheColumns } from "./columns.tsx";
import "./caches.css";
import { useTexts } from "./texts.ts";

const DEFAULTS = { ...LIST_DEFAULTS, model: "", channel: "" };

function CacheActions({ row: { id } }: { readonly row: StoredCache }) {
  const t = useTexts();
  const remove = async () => {
    const question = {
      title: t("removeTitle", { id }),
      body: t("removeBody"),
      confirm: t("remove"),
      isDangerous: true,
    };
    if (!(await ask(question))) return;
    await deleteCache(id).then(() => toast("success", t("removed", { id })), toastProblem);
  };
  return (
    <div className="row-actions">
      <RowMenu
        name={id}
        entries={[{ id: "delete", label: t("remove"), icon: "trash", isDangerous: true, run: () => void remove() }]}
      />
    </div>
  );
}

/** Prompts that clients cache at providers. */
export function CachesPage() {
  const t = useTexts();
  const language = useLanguage();
  const isAdmin = isAdminUser(useUser());
  const list = useList(DEFAULTS);
  const { state, page, size, filter, isFiltered, clear } = list;
  const { model, channel, sort } = state;
  const { data, error, isFetching, refetch } = useQuery(cachesQuery({ page, size, sort, model, channel }, isAdmin));
  const columns = useMemo(() => cacheColumns({ t, language, isAdmin }), [t, language, isAdmin]);
  return (
    <ListPage
      title={t("title")}
      filters={
        <FilterBar
          main={<FilterText isMain label={t("model")} value={model} onChange={(name) => filter({ model: name })} />}
          isActive={isFiltered}
          onClear={clear}
        >
          {isAdmin && <ChannelFilter label={t("channel")} value={channel} onChange={(id) => filter({ channel: id })} />}
        </FilterBar>
      }
      list={list}
      query={{ data, error, isFetching, refetch }}
      columns={columns}
      rowId={(row) => row.id}
      rowName={(row) => row.id}
      actions={(row) => <CacheActions row={row} />}
      teach={
        <EmptyTeach icon="clock" title={t("emptyTitle")} body={t("emptyBody")}>
          <Button asChild variant="outline">
            <Link to="/token">{t("emptyAction")}</Link>
          </Button>
        </EmptyTeach>
      }
    />
  );
}
