import { CHANNEL_STATUS, LOWEST_PRIORITY, splitList, type Channel } from "@fairway/wire";
import { parseObject } from "../../../lib/text/json.ts";
import { diffPatch } from "../../../ui/bulk/plan.ts";
import type { BulkChange, BulkPatch } from "./bulk-calls.ts";

/** How members of a list or a mapping change; "" leaves them alone. */
type Mode = "" | "set" | "add" | "remove";

export interface BulkDraft {
  readonly status: "" | "on" | "off";
  readonly tagMode: Mode;
  readonly tag: string;
  readonly groupMode: Mode;
  readonly group: string;
  /** "" leaves it alone, like `weight`. */
  readonly priority: string;
  readonly weight: string;
  readonly mappingMode: Mode;
  readonly mapping: string;
}

export const NO_CHANGE: BulkDraft = {
  status: "",
  tagMode: "",
  tag: "",
  groupMode: "",
  group: "",
  priority: "",
  weight: "",
  mappingMode: "",
  mapping: "",
};

type ProblemText = "badPriority" | "badWeight" | "badMapping" | "groupMissing" | "tagMissing";

/** Validates a draft, by field. */
export function checkBulk(draft: BulkDraft): Partial<Record<keyof BulkDraft, ProblemText>> {
  const problems: Partial<Record<keyof BulkDraft, ProblemText>> = {};
  if (!isWhole(draft.priority, LOWEST_PRIORITY)) problems.priority = "badPriority";
  if (!isWhole(draft.weight, 0)) problems.weight = "badWeight";
  if (draft.tagMode === "set" && draft.tag.trim() === "") problems.tag = "tagMissing";
  if (draft.groupMode !== "" && splitList(draft.group).length === 0) problems.group = "groupMissing";
  const needsMapping = draft.mappingMode === "set" || draft.mappingMode === "add";
  if (needsMapping && parseObject(draft.mapping) === undefined) problems.mapping = "badMapping";
  return problems;
}

function isWhole(text: string, least: number): boolean {
  return text.trim() === "" || (/^-?\d+$/.test(text.trim()) && Number(text) >= least);
}

/** Returns the channels that a draft changes, each with the members that differ. */
export function buildPlan(draft: BulkDraft, channels: readonly Channel[]): BulkChange[] {
  return channels.flatMap((channel) => {
    const difference = diffPatch<BulkPatch>(buildWantedPatch(draft, channel), readCurrentValues(channel));
    return difference ? [{ row: channel, ...difference }] : [];
  });
}

function readCurrentValues({ status, tag, group, priority, weight, model_mapping }: Channel) {
  // Only the system sets "disabled automatically"; people switch a channel on or off.
  const isOn = status === CHANNEL_STATUS.enabled;
  const byHand = isOn ? CHANNEL_STATUS.enabled : CHANNEL_STATUS.disabledByHand;
  return { status: byHand, tag: tag ?? "", group, priority, weight, model_mapping };
}

function buildWantedPatch(draft: BulkDraft, channel: Channel): BulkPatch {
  const { status, priority, weight } = draft;
  return {
    ...(status !== "" && { status: status === "on" ? CHANNEL_STATUS.enabled : CHANNEL_STATUS.disabledByHand }),
    ...(draft.tagMode !== "" && { tag: draft.tagMode === "set" ? draft.tag.trim() : "" }),
    ...(draft.groupMode !== "" && { group: wantedGroups(draft, channel).join(",") }),
    ...(priority.trim() !== "" && { priority: Number(priority) }),
    ...(weight.trim() !== "" && { weight: Number(weight) }),
    ...(draft.mappingMode !== "" && { model_mapping: wantedMapping(draft, channel) }),
  };
}

function wantedGroups({ groupMode, group }: BulkDraft, channel: Channel): string[] {
  const [named, own] = [splitList(group), splitList(channel.group)];
  if (groupMode === "set") return named;
  if (groupMode === "add") return [...new Set([...own, ...named])];
  return own.filter((name) => !named.includes(name));
}

function wantedMapping({ mappingMode, mapping }: BulkDraft, channel: Channel): string {
  if (mappingMode === "remove") return "";
  const own = mappingMode === "add" ? parseObject(channel.model_mapping) : {};
  return JSON.stringify({ ...own, ...parseObject(mapping) });
}
