import { CHANNEL_STATUS } from "@fairway/wire";
import { Box } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { FilterBar, FilterSelect, FilterText } from "../../../ui/grid/filter-bar.tsx";
import { LIST_DEFAULTS, type useList } from "../../../ui/grid/use-list.ts";
import { groupsQuery } from "../../../session/groups.ts";
import { typesQuery } from "../api.ts";
import { useTexts } from "../texts.ts";

/** The parameters of the list's address. */
export const DEFAULTS = { ...LIST_DEFAULTS, q: "", model: "", status: "", type: "", group: "", tag: "" };

interface FiltersProps {
  readonly list: ReturnType<typeof useList<typeof DEFAULTS>>;
  /** Whether any visible channel has a tag. */
  readonly hasTags: boolean;
  readonly byId: boolean;
  onById(byId: boolean): void;
}

/** The filters of the list, and its sort order. */
export function Filters({ list, hasTags, byId, onById }: FiltersProps) {
  const t = useTexts();
  const { state, filter } = list;
  const types = useQuery(typesQuery).data ?? [];
  const groups = useQuery(groupsQuery).data ?? [];
  const statuses = [
    { value: "", label: t("anyStatus") },
    { value: String(CHANNEL_STATUS.enabled), label: t("enabled") },
    { value: String(CHANNEL_STATUS.disabledByHand), label: t("disabledByHand") },
    { value: String(CHANNEL_STATUS.disabledBySystem), label: t("disabledBySystem") },
  ];
  const typeChoices = [
    { value: "", label: t("anyType") },
    ...types.map((type) => ({ value: String(type.type), label: type.label })),
  ];
  const groupChoices = [{ value: "", label: t("anyGroup") }, ...groups.map((name) => ({ value: name, label: name }))];
  return (
    <FilterBar
      main={<FilterText isMain label={t("search")} value={state.q} onChange={(q) => filter({ q })} />}
      isActive={list.isFiltered}
      onClear={list.clear}
    >
      <FilterText label={t("searchModel")} value={state.model} onChange={(model) => filter({ model })} />
      <FilterSelect
        label={t("status")}
        value={state.status}
        choices={statuses}
        onChange={(status) => filter({ status })}
      />
      <FilterSelect label={t("type")} value={state.type} choices={typeChoices} onChange={(type) => filter({ type })} />
      <FilterSelect
        label={t("group")}
        value={state.group}
        choices={groupChoices}
        onChange={(group) => filter({ group })}
      />
      {(hasTags || state.tag !== "") && (
        <FilterText label={t("tag")} width="110px" value={state.tag} onChange={(tag) => filter({ tag })} />
      )}
      <Box ms={{ base: "0", sm: "auto" }} width={{ base: "calc(50% - 4px)", sm: "auto" }}>
        <FilterSelect
          label={t("order")}
          value={byId ? "id" : "priority"}
          choices={[
            { value: "priority", label: t("byPriority") },
            { value: "id", label: t("byId") },
          ]}
          onChange={(order) => onById(order === "id")}
        />
      </Box>
    </FilterBar>
  );
}
