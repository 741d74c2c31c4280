import { splitList, type Channel } from "@fairway/wire";
import { SimpleGrid } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { formatCount } from "../../../lib/format.ts";
import { useLanguage } from "../../../lib/i18n.ts";
import { ChangeDialog, type ShownChange } from "../../../ui/bulk/change-dialog.tsx";
import { AreaField, SelectField, TextField } from "../../../ui/form/field.tsx";
import { groupsQuery } from "../../../session/groups.ts";
import type { BulkChange, BulkField } from "./bulk-calls.ts";
import { checkBulk, NO_CHANGE, buildPlan, type BulkDraft } from "./bulk-patch.ts";
import { useTexts } from "../texts.ts";

interface DialogProps {
  readonly channels: readonly Channel[];
  onApply(plan: readonly BulkChange[]): void;
  onClose(): void;
}

/** Changes many channels at once, after a preview of each one's changes. */
export function BulkPatchDialog({ channels, onApply, onClose }: DialogProps) {
  const t = useTexts();
  const language = useLanguage();
  const [draft, setDraft] = useState(NO_CHANGE);
  const [isChecked, setChecked] = useState(false);
  const problems = checkBulk(draft);
  const isGood = Object.keys(problems).length === 0;
  const plan = useMemo(() => (isGood ? buildPlan(draft, channels) : []), [isGood, draft, channels]);
  const rest = formatCount(channels.length - plan.length, language);
  return (
    <ChangeDialog
      title={t("changeManyTitle", { count: channels.length })}
      plan={plan}
      toChosenRow={({ row }) => row}
      listShownChanges={(change) => listShownChanges(change, t)}
      summary={(count) => t("previewCount", { count, rest })}
      isGood={isGood}
      onSubmit={() => {
        setChecked(true);
        if (isGood && plan.length > 0) onApply(plan);
      }}
      onClose={onClose}
    >
      <Fields
        draft={draft}
        problems={isChecked ? problems : {}}
        set={(change) => setDraft((current) => ({ ...current, ...change }))}
      />
    </ChangeDialog>
  );
}

interface FieldsProps {
  readonly draft: BulkDraft;
  readonly problems: ReturnType<typeof checkBulk>;
  set(change: Partial<BulkDraft>): void;
}

function Fields({ draft, problems, set }: FieldsProps) {
  const t = useTexts();
  const groups = useQuery(groupsQuery).data ?? [];
  const unchanged = { value: "", label: t("leave") };
  const error = (name: keyof BulkDraft) => {
    const problem = problems[name];
    return problem && t(problem);
  };
  const choices = (...texts: [BulkDraft["tagMode"], string][]) => [
    unchanged,
    ...texts.map(([value, label]) => ({ value, label })),
  ];
  const toTagMode = (value: string) => value as BulkDraft["tagMode"];
  return (
    <SimpleGrid columns={{ base: 1, sm: 2 }} gap="4">
      <SelectField
        label={t("status")}
        value={draft.status}
        choices={[unchanged, { value: "on", label: t("enable") }, { value: "off", label: t("disable") }]}
        onChange={(status) => set({ status: status as BulkDraft["status"] })}
      />
      <SelectField
        label={t("tag")}
        value={draft.tagMode}
        choices={choices(["set", t("setTo")], ["remove", t("takeAway")])}
        onChange={(mode) => set({ tagMode: toTagMode(mode) })}
      />
      {draft.tagMode === "set" && (
        <TextField label={t("tagNew")} value={draft.tag} error={error("tag")} onChange={(tag) => set({ tag })} />
      )}
      <SelectField
        label={t("groups")}
        value={draft.groupMode}
        choices={choices(["set", t("setTo")], ["add", t("addThese")], ["remove", t("removeThese")])}
        onChange={(mode) => set({ groupMode: toTagMode(mode) })}
      />
      {draft.groupMode !== "" && (
        <TextField
          label={t("groupNames")}
          help={t("groupNamesHelp")}
          value={draft.group}
          error={error("group")}
          suggestions={groups.map((value) => ({ value, label: "" }))}
          onChange={(group) => set({ group })}
        />
      )}
      <TextField
        label={t("priority")}
        inputMode="numeric"
        placeholder={t("leave")}
        value={draft.priority}
        error={error("priority")}
        onChange={(priority) => set({ priority })}
      />
      <TextField
        label={t("weight")}
        inputMode="numeric"
        placeholder={t("leave")}
        value={draft.weight}
        error={error("weight")}
        onChange={(weight) => set({ weight })}
      />
      <SelectField
        label={t("mapping")}
        value={draft.mappingMode}
        choices={choices(["set", t("replaceAll")], ["add", t("addThese")], ["remove", t("takeAway")])}
        onChange={(mode) => set({ mappingMode: toTagMode(mode) })}
      />
      {(draft.mappingMode === "set" || draft.mappingMode === "add") && (
        <AreaField
          isMono
          label={t("mappingNew")}
          placeholder={'{"gpt-4o": "gpt-4o-2024-11-20"}'}
          value={draft.mapping}
          error={error("mapping")}
          onChange={(mapping) => set({ mapping })}
        />
      )}
    </SimpleGrid>
  );
}

const FIELD_TEXT = {
  status: "status",
  tag: "tag",
  group: "groups",
  priority: "priority",
  weight: "weight",
  model_mapping: "mapping",
} as const satisfies Record<BulkField, string>;

function listShownChanges({ patch, undo }: BulkChange, t: ReturnType<typeof useTexts>): ShownChange[] {
  const shown = (field: BulkField, value: string | number | undefined) => {
    if (field === "status") return t(value === 1 ? "enabled" : "disabledByHand");
    if (field === "group") return splitList(String(value)).join(", ") || "–";
    return value === "" || value === undefined ? "–" : String(value);
  };
  return (Object.keys(patch) as BulkField[]).map((field) => ({
    label: t(FIELD_TEXT[field]),
    before: shown(field, undo[field]),
    after: shown(field, patch[field]),
  }));
}
