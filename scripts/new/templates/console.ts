// The page of a resource: list, create drawer, delete.
import type { Names } from "../names.ts";

export function api({ camel: many, item: { camel, pascal } }: Names): string {
  return `import { ${camel}Create, ${camel}Delete, ${camel}List, type ${pascal} } from "@fairway/wire";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "../../lib/http.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { queryClient } from "../../lib/query.ts";
import { readRows, type Rows } from "../../lib/rows.ts";

export function ${many}Query(filter: { readonly page: number; readonly size: number }) {
  return queryOptions({
    queryKey: queryKeys.${many}.list(filter),
    queryFn: ({ signal }): Promise<Rows<${pascal}>> =>
      readRows(${camel}List, { query: { p: filter.page - 1, page_size: filter.size }, signal }),
    placeholderData: keepPreviousData,
  });
}

export async function create${pascal}(name: string): Promise<void> {
  await call(${camel}Create, { body: { name } });
  await queryClient.invalidateQueries({ queryKey: queryKeys.${many}.lists });
}

export async function delete${pascal}(id: number): Promise<void> {
  await call(${camel}Delete, { params: { id } });
  await queryClient.invalidateQueries({ queryKey: queryKeys.${many}.lists });
}
`;
}

export function queryKeys({ camel: many }: Names): string {
  return `  ${many}: { lists: ["${many}", "list"], list: (filter: Part) => ["${many}", "list", filter] },
`;
}

export function page({ kebab, camel: many, pascal: Many, item: { pascal } }: Names): string {
  return `import type { ${pascal} } from "@fairway/wire";
import { Flex } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Outlet } from "react-router";
import { When } from "../../ui/display/when.tsx";
import { ask } from "../../ui/feedback/ask.ts";
import { EmptyTeach } from "../../ui/feedback/empty.tsx";
import { toast, toastProblem } from "../../ui/feedback/toaster.ts";
import type { Column } from "../../ui/grid/grid-props.ts";
import { AddLink, ListPage } from "../../ui/list/list-page.tsx";
import { LIST_DEFAULTS, useList } from "../../ui/grid/use-list.ts";
import { RowMenu } from "../../ui/menu/row-menu.tsx";
import { delete${pascal}, ${many}Query } from "./api.ts";
import { useTexts } from "./texts.ts";

function buildColumns(t: ReturnType<typeof useTexts>): Column<${pascal}>[] {
  return [
    { id: "id", header: t("id"), align: "end", cell: (row) => row.id },
    { id: "name", header: t("name"), isTitle: true, cell: (row) => <bdi>{row.name}</bdi> },
    { id: "created", header: t("created"), cell: (row) => <When at={row.created_time} /> },
  ];
}

function Actions({ row: { id, name } }: { readonly row: ${pascal} }) {
  const t = useTexts();
  const remove = async () => {
    const question = { title: t("removeTitle", { name }), body: t("removeBody"), confirm: t("remove"), isDangerous: true };
    if (!(await ask(question))) return;
    await delete${pascal}(id).then(() => toast("success", t("removed", { name })), toastProblem);
  };
  return (
    <Flex justify="flex-end">
      <RowMenu
        name={name}
        entries={[{ id: "delete", label: t("remove"), icon: "trash", isDangerous: true, run: () => void remove() }]}
      />
    </Flex>
  );
}

export function ${Many}Page() {
  const t = useTexts();
  const list = useList(LIST_DEFAULTS);
  const query = useQuery(${many}Query({ page: list.page, size: list.size }));
  const columns = useMemo(() => buildColumns(t), [t]);
  return (
    <ListPage
      title={t("title")}
      pageActions={<AddLink to="/${kebab}/add" label={t("add")} />}
      filters={undefined}
      list={list}
      query={query}
      columns={columns}
      rowId={(row) => row.id}
      rowName={(row) => row.name}
      actions={(row) => <Actions row={row} />}
      teach={
        <EmptyTeach icon="info" title={t("emptyTitle")} body={t("emptyBody")}>
          <AddLink to="/${kebab}/add" label={t("add")} />
        </EmptyTeach>
      }
    >
      <Outlet />
    </ListPage>
  );
}
`;
}

export function drawer({ kebab, item: { pascal } }: Names): string {
  return `import { useForm } from "../../lib/use-form.ts";
import { toast, toastProblem } from "../../ui/feedback/toaster.ts";
import { TextField } from "../../ui/form/field.tsx";
import { DrawerForm, DrawerShell, FormSection } from "../../ui/form/form-drawer.tsx";
import { useCloseTo } from "../../ui/form/use-close-to.ts";
import { create${pascal} } from "./api.ts";
import { useTexts } from "./texts.ts";

export function Add${pascal}() {
  const t = useTexts();
  const close = useCloseTo("/${kebab}");
  const form = useForm({
    initial: { name: "" },
    check: ({ name }) => (name.trim() === "" ? { name: t("nameMissing") } : {}),
    save: async ({ name }) => {
      await create${pascal}(name.trim());
      toast("success", t("created${pascal}", { name: name.trim() }));
    },
    onProblem: toastProblem,
  });
  return (
    <DrawerShell kind="create" title={t("add")} onClose={close}>
      <DrawerForm form={form} list="/${kebab}" createLabel={t("create")}>
        <FormSection title={t("title")}>
          <TextField label={t("name")} isRequired {...form.input("name")} />
        </FormSection>
      </DrawerForm>
    </DrawerShell>
  );
}
`;
}

export function texts(): string {
  return `import { defineTexts } from "../../lib/i18n.ts";
import { en } from "./locale/en.ts";

export const { useTexts } = defineTexts(en, async () => (await import("./locale/zh.ts")).zh);
`;
}

export function english({ title, item: { pascal } }: Names): string {
  const one = title.replace(/s$/, "").toLowerCase();
  return `export const en = {
  title: "${title}",
  add: "Add",
  create: "Create",
  id: "ID",
  name: "Name",
  nameMissing: "Enter a name.",
  created: "Created",
  created${pascal}: "{name} was created.",
  remove: "Delete",
  removeTitle: "Delete {name}?",
  removeBody: "This cannot be undone.",
  removed: "{name} was deleted.",
  emptyTitle: "No ${title.toLowerCase()} yet",
  emptyBody: "Add the first ${one}.",
} as const;
`;
}

export function chinese({ title, item: { pascal } }: Names): string {
  return `import type { Translation } from "../../../lib/i18n.ts";
import type { en } from "./en.ts";

export const zh: Translation<typeof en> = {
  title: "${title}",
  add: "添加",
  create: "创建",
  id: "ID",
  name: "名称",
  nameMissing: "请输入名称。",
  created: "创建时间",
  created${pascal}: "已创建 {name}。",
  remove: "删除",
  removeTitle: "删除 {name}？",
  removeBody: "此操作无法撤销。",
  removed: "已删除 {name}。",
  emptyTitle: "暂无内容",
  emptyBody: "添加第一项。",
};
`;
}

/** The record that defines route, sidebar entry, access and palette entry. */
export function pageEntry(
  { kebab, camel, pascal, item: { pascal: Item, kebab: item } }: Names,
  key: string | undefined,
): string {
  return `  {
    path: "/${kebab}",
    label: "${camel}",
    icon: "info",
    section: "operate",
    access: "admin",
${key === undefined ? "" : `    key: "${key}",\n`}    load: async () => ({ Component: (await import("../features/${kebab}/${kebab}.page.tsx")).${pascal}Page }),
    drawers: {
      add: async () => ({ Component: (await import("../features/${kebab}/${item}.drawer.tsx")).Add${Item} }),
    },
  },
`;
}
