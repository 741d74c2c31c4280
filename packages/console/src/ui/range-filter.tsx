import { Input } from "@chakra-ui/react";
import { fromLocalInput, toLocalInput } from "../lib/format.ts";
import { nowSeconds } from "../lib/now.ts";
import { boundsOf, rangeName, type RangeName } from "../lib/range.ts";
import { FilterSelect } from "./filter-bar.tsx";
import { useTexts } from "./texts.ts";

const TEXT = {
  today: "today",
  "1h": "last1h",
  "24h": "last24h",
  "7d": "last7d",
  "30d": "last30d",
  "90d": "last90d",
  custom: "custom",
} as const;

interface RangeState {
  readonly range: string;
  /** Unix seconds, of custom ranges. */
  readonly from: string;
  readonly to: string;
}

interface RangeFilterProps {
  readonly state: RangeState;
  /** Offered ranges; the first is the one of an address that names none. */
  readonly names: readonly RangeName[];
  /** Stands for an address that names none, where that is not the first. */
  readonly usual?: RangeName;
  change(change: Partial<RangeState>): void;
}

/** The time range of a list: names that move with time, or two times of one's own. */
export function RangeFilter(props: RangeFilterProps) {
  const t = useTexts();
  const { state, names, change } = props;
  const range = rangeName(state.range, props.usual ?? names[0]);
  const choose = (next: string) => {
    if (next !== "custom") return change({ range: next, from: "", to: "" });
    // A custom range starts from what was shown.
    const { from, to } = boundsOf(range, nowSeconds(), state);
    change({ range: next, from: String(from), to: String(to) });
  };
  const field = (name: "from" | "to") => (
    <Input
      type="datetime-local"
      step={1}
      width={{ base: "full", sm: "200px" }}
      aria-label={t(name)}
      value={state[name] === "" ? "" : toLocalInput(Number(state[name]) || nowSeconds())}
      onChange={(event) => change({ [name]: String(fromLocalInput(event.target.value) ?? "") })}
    />
  );
  return (
    <>
      <FilterSelect
        label={t("timeRange")}
        value={range}
        choices={names.map((name) => ({ value: name, label: t(TEXT[name]) }))}
        {...(props.usual === undefined ? {} : { unset: props.usual })}
        onChange={choose}
      />
      {range === "custom" && field("from")}
      {range === "custom" && field("to")}
    </>
  );
}
