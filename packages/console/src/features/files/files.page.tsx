import { Button } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link } from "react-router";
import { useLanguage } from "../../lib/i18n.ts";
import { isAdmin as isAdminUser, useUser } from "../../session/session.ts";
import { EmptyTeach } from "../../ui/feedback/empty.tsx";
import { ask } from "../../ui/feedback/ask.ts";
import { toast, toastProblem } from "../../ui/feedback/toaster.ts";
import { FilterBar, FilterSelect, FilterText } from "../../ui/grid/filter-bar.tsx";
import { LIST_DEFAULTS, useList } from "../../ui/grid/use-list.ts";
import { ListPage } from "../../ui/list/list-page.tsx";
import { RowMenu } from "../../ui/menu/row-menu.tsx";
import type { StoredFile } from "@fairway/wire";
import { deleteFile, filesQuery } from "./api.ts";
import { fileColumns, STATES } from "./columns.tsx";
import "./files.css";
import { useTexts } from "./texts.ts";
import { UsageBar } from "./usage-bar.tsx";

const DEFAULTS = { ...LIST_DEFAULTS, purpose: "", dialect: "", status: "" };
const DIALECTS = ["openai", "anthropic", "gemini"];

function Filters({ list }: { readonly list: ReturnType<typeof useList<typeof DEFAULTS>> }) {
  const t = useTexts();
  const { state, filter, isFiltered, clear } = list;
  return (
    <FilterBar
      main={
        <FilterText isMain label={t("purpose")} value={state.purpose} onChange={(purpose) => filter({ purpose })} />
      }
      isActive={isFiltered}
      onClear={clear}
    >
      <FilterSelect
        label={t("protocol")}
        value={state.dialect}
        choices={[{ value: "", label: t("anyProtocol") }, ...DIALECTS.map((value) => ({ value, label: value }))]}
        onChange={(dialect) => filter({ dialect })}
      />
      <FilterSelect
        label={t("state")}
        value={state.status}
        choices={[
          { value: "", label: t("anyState") },
          ...Object.entries(STATES).map(([value, { text }]) => ({ value, label: t(text) })),
        ]}
        onChange={(status) => filter({ status })}
      />
    </FilterBar>
  );
}

function FileActions({ row }: { readonly row: StoredFile }) {
  const t = useTexts();
  const name = row.name || row.id;
  const remove = async () => {
    const question = {
      title: t("removeTitle", { name }),
      body: t("removeBody"),
      confirm: t("remove"),
      isDangerous: true,
    };
    if (!(await ask(question))) return;
    await deleteFile(row.id).then(() => toast("success", t("removed", { name })), toastProblem);
  };
  return (
    <div className="row-actions">
      <RowMenu
        name={name}
        entries={[{ id: "delete", label: t("remove"), icon: "trash", isDangerous: true, run: () => void remove() }]}
      />
    </div>
  );
}

/** Files that clients store at providers. */
export function FilesPage() {
  const t = useTexts();
  const language = useLanguage();
  const isAdmin = isAdminUser(useUser());
  const list = useList(DEFAULTS);
  const { state, page, size } = list;
  const { purpose, dialect, status, sort } = state;
  const { data, error, isFetching, refetch } = useQuery(
    filesQuery({ page, size, sort, purpose, dialect, state: status }, isAdmin),
  );
  const columns = useMemo(() => fileColumns({ t, language, isAdmin }), [t, language, isAdmin]);
  return (
    <ListPage
      title={t("title")}
      notice={<UsageBar />}
      filters={<Filters list={list} />}
      list={list}
      query={{ data, error, isFetching, refetch }}
      columns={columns}
      rowId={(row) => `${row.user_id} ${row.id}`}
      rowName={(row) => row.name || row.id}
      isMuted={(row) => row.state !== "ready"}
      actions={(row) => <FileActions row={row} />}
      teach={
        <EmptyTeach icon="paper" title={t("emptyTitle")} body={t("emptyBody")}>
          <Button asChild variant="outline">
            <Link to="/token">{t("emptyAction")}</Link>
          </Button>
        </EmptyTeach>
      }
    />
  );
}
