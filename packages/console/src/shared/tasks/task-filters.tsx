import type { ReactNode } from "react";
import type { RangeName } from "../../lib/range.ts";
import { Icon } from "../../ui/display/icon.tsx";
import { IconButton } from "../../ui/display/icon-button.tsx";
import { FilterBar, FilterText } from "../../ui/grid/filter-bar.tsx";
import { RangeFilter } from "../../ui/grid/range-filter.tsx";
import { ChannelFilter } from "../channels/channel-filter.tsx";
import { useTexts } from "./texts.ts";

type Filters = Readonly<Record<"id" | "channel" | "range" | "from" | "to", string>>;

interface TaskFiltersProps {
  /** The result of `useList`. */
  readonly list: {
    readonly state: Filters;
    readonly isFiltered: boolean;
    filter(change: Partial<Filters>): void;
    clear(): void;
  };
  readonly isAdmin: boolean;
  /** The range if the address names none. */
  readonly usual: RangeName;
  onRefresh(): void;
  /** Filters that only this kind of task has. */
  readonly children?: ReactNode;
}

/** Filters of a list of long-running tasks: id, channel and time. */
export function TaskFilters({ list, isAdmin, usual, onRefresh, children }: TaskFiltersProps) {
  const t = useTexts();
  const { state, filter, isFiltered, clear } = list;
  return (
    <FilterBar
      main={<FilterText isMain label={t("searchId")} value={state.id} onChange={(id) => filter({ id })} />}
      isActive={isFiltered}
      onClear={clear}
      aside={
        <IconButton variant="outline" label={t("refresh")} onClick={onRefresh}>
          <Icon name="refresh" />
        </IconButton>
      }
    >
      {isAdmin && (
        <ChannelFilter label={t("searchChannel")} value={state.channel} onChange={(channel) => filter({ channel })} />
      )}
      {children}
      <RangeFilter state={state} names={["today", "24h", "7d", "30d", "90d", "custom"]} usual={usual} change={filter} />
    </FilterBar>
  );
}
