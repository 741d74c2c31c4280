import { Input } from "@chakra-ui/react";
import { useEffect, useState } from "react";
import { fromLocalInput, LAST_LOCAL_INPUT, toLocalInput } from "../../lib/format.ts";
import { nowSeconds } from "../../lib/now.ts";
import { resolveBounds, rangeName, type RangeName } from "../../lib/range.ts";
import { FilterSelect } from "./filter-bar.tsx";
import { DEBOUNCE_MS } from "./use-draft.ts";
import { useTexts } from "../texts.ts";

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
  /** The choices; the first one applies if the address names none. */
  readonly names: readonly RangeName[];
  /** Applies if the address names none, if that is not the first one. */
  readonly usual?: RangeName;
  readonly isMain?: boolean;
  readonly width?: string;
  change(change: Partial<RangeState>): void;
}

/** The time range of a list: a named range that moves with time, or two custom times. */
export function RangeFilter(props: RangeFilterProps) {
  const t = useTexts();
  const { state, names, change } = props;
  const range = rangeName(state.range, props.usual ?? names[0]);
  const choose = (next: string) => {
    if (next !== "custom") return change({ range: next, from: "", to: "" });
    // A custom range starts from the range shown before.
    const { from, to } = resolveBounds(range, nowSeconds(), state);
    change({ range: next, from: String(from), to: String(to) });
  };
  const field = (name: "from" | "to") => (
    <TimeField label={t(name)} value={state[name]} onChange={(value) => change({ [name]: value })} />
  );
  return (
    <>
      <FilterSelect
        label={t("timeRange")}
        value={range}
        choices={names.map((name) => ({ value: name, label: t(TEXT[name]) }))}
        {...(props.usual === undefined ? {} : { unset: props.usual })}
        isMain={props.isMain ?? false}
        {...(props.width === undefined ? {} : { width: props.width })}
        onChange={choose}
      />
      {range === "custom" && field("from")}
      {range === "custom" && field("to")}
    </>
  );
}

function toSeconds(text: string): string {
  return String(fromLocalInput(text) ?? "");
}

/** A time in the address. The input is stored here first: the address updates too late for a half-typed date. */
function TimeField(props: { readonly label: string; readonly value: string; onChange(value: string): void }) {
  const { value, onChange } = props;
  const text = value === "" ? "" : toLocalInput(Number(value) || nowSeconds());
  const [draft, setDraft] = useState(text);
  const [known, setKnown] = useState(value);
  if (known !== value) {
    setKnown(value);
    if (toSeconds(draft) !== value) setDraft(text);
  }
  useEffect(() => {
    const wanted = toSeconds(draft);
    if (wanted === toSeconds(text)) return;
    const timer = setTimeout(() => onChange(wanted), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  });
  return (
    <Input
      type="datetime-local"
      step={1}
      max={LAST_LOCAL_INPUT}
      width={{ base: "full", sm: "224px" }}
      aria-label={props.label}
      value={draft}
      onChange={(event) => setDraft(event.target.value)}
    />
  );
}
