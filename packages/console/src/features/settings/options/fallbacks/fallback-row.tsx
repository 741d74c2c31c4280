import { FALLBACK_CAUSES, MAX_STICKY_SECONDS, type FallbackCause } from "@fairway/wire";
import { useState, type KeyboardEvent, type PointerEvent } from "react";
import { Icon } from "../../../../ui/display/icon.tsx";
import { IconButton } from "../../../../ui/display/icon-button.tsx";
import { useTexts } from "../../texts.ts";
import { readSticky, type ListedModel } from "./fallback-lists.ts";
import { CAUSES } from "./words.ts";

/** Returns how many places a key moves a model. */
function toStep(key: string): number {
  if (key === "ArrowUp") return -1;
  return key === "ArrowDown" ? 1 : 0;
}

/** Returns the place of the row under a pointer, among those next to the dragged one. */
function findPlace(handle: Element, y: number): number | undefined {
  const rows = [...(handle.closest("ol")?.children ?? [])];
  const at = rows.findIndex((row) => y < row.getBoundingClientRect().bottom);
  return rows.length === 0 ? undefined : at === -1 ? rows.length - 1 : at;
}

interface FallbackRowProps {
  readonly entry: ListedModel;
  readonly at: number;
  /** Where the dragged row would be dropped. */
  readonly isTarget: boolean;
  readonly warning: string | undefined;
  onTarget(place: number | undefined): void;
  onMove(to: number): void;
  onChange(entry: ListedModel): void;
  onRemove(): void;
}

/** The handle of a row: it is dragged, or moved by the arrow keys. */
function Handle({ entry, at, onTarget, onMove }: FallbackRowProps) {
  const t = useTexts();
  const [place, setPlace] = useState<number>();
  const target = (next: number | undefined) => {
    setPlace(next);
    onTarget(next === at ? undefined : next);
  };
  const drop = (event: PointerEvent) => {
    if (place === undefined) return;
    target(undefined);
    if (event.type === "pointerup" && place !== at) onMove(place);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = toStep(event.key);
    if (step === 0) return;
    event.preventDefault();
    onMove(at + step);
  };
  return (
    <IconButton
      size="xs"
      className="fallback-handle"
      label={t("moveModel", { name: entry.model })}
      data-handle={entry.model}
      onKeyDown={onKeyDown}
      onPointerDown={(event: PointerEvent) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        setPlace(at);
      }}
      onPointerMove={(event: PointerEvent) => {
        if (place !== undefined) target(findPlace(event.currentTarget, event.clientY));
      }}
      onPointerUp={drop}
      onPointerCancel={drop}
    >
      <Icon name="menu" size={14} />
    </IconButton>
  );
}

const STICKY = [0, 300, 3_600, 86_400, MAX_STICKY_SECONDS];

const UNITS = [
  { seconds: 86_400, text: "stayDays" },
  { seconds: 3_600, text: "stayHours" },
  { seconds: 60, text: "stayMinutes" },
] as const;

/** Names a time in its largest whole unit. */
function formatStay(seconds: number, t: ReturnType<typeof useTexts>): string {
  const unit = UNITS.find((one) => seconds % one.seconds === 0);
  return unit ? t(unit.text, { count: seconds / unit.seconds }) : t("staySeconds", { count: seconds });
}

/** How long a conversation that fell back to the model stays with it. */
function Stay({ entry, onChange }: Pick<FallbackRowProps, "entry" | "onChange">) {
  const t = useTexts();
  const { sticky_seconds: _sticky, ...others } = entry.rest;
  const seconds = readSticky(entry);
  const choices = STICKY.includes(seconds) ? STICKY : [...STICKY, seconds].toSorted((a, b) => a - b);
  const choose = (text: string) =>
    onChange({ ...entry, rest: text === "0" ? others : { ...others, sticky_seconds: Number(text) } });
  return (
    <select
      className="fallback-stay"
      aria-label={t("stayWith", { name: entry.model })}
      title={t("stayHelp")}
      value={String(seconds)}
      onChange={(event) => choose(event.target.value)}
    >
      {choices.map((one) => (
        <option key={one} value={one}>
          {one === 0 ? t("stayOneCall") : formatStay(one, t)}
        </option>
      ))}
    </select>
  );
}

/** One model of a list, with the causes that lead to it. */
export function FallbackRow(props: FallbackRowProps) {
  const t = useTexts();
  const { entry, at, onChange } = props;
  const toggle = (cause: FallbackCause) => {
    const on = FALLBACK_CAUSES.filter((one) => (one === cause ? !entry.on.includes(one) : entry.on.includes(one)));
    // A model without a cause would never be asked.
    if (on.length > 0) onChange({ ...entry, on });
  };
  return (
    <li className={props.isTarget ? "fallback-row is-target" : "fallback-row"}>
      <Handle {...props} />
      <span className="fallback-place">{at + 1}</span>
      <span className="fallback-name">
        <bdi>{entry.model}</bdi>
        {props.warning !== undefined && (
          <span className="fallback-warning">
            <Icon name="warning" size={12} /> {props.warning}
          </span>
        )}
      </span>
      <span role="group" aria-label={t("causesOf", { name: entry.model })} className="fallback-causes">
        {FALLBACK_CAUSES.map((cause) => (
          <button
            key={cause}
            type="button"
            className="fallback-cause"
            aria-pressed={entry.on.includes(cause)}
            onClick={() => toggle(cause)}
          >
            {t(CAUSES[cause])}
          </button>
        ))}
      </span>
      <Stay entry={entry} onChange={onChange} />
      <IconButton size="xs" label={t("removeModel", { name: entry.model })} onClick={props.onRemove}>
        <Icon name="close" size={14} />
      </IconButton>
    </li>
  );
}
