import { splitList, type Channel } from "@fairway/wire";
import { Box, Button, Flex, SimpleGrid, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useId, useMemo, useState, type FormEvent } from "react";
import { formatCount } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { AreaField, SelectField, TextField } from "../../ui/form/field.tsx";
import { useTexts as useUiTexts } from "../../ui/texts.ts";
import { groupsQuery } from "./api.ts";
import type { BulkChange, BulkField } from "./bulk-calls.ts";
import { checkBulk, NO_CHANGE, planOf, type BulkDraft } from "./bulk-patch.ts";
import { useTexts } from "./texts.ts";
import { Modal } from "../../ui/feedback/modal.tsx";

const MOST_SHOWN = 50;

interface DialogProps {
  readonly channels: readonly Channel[];
  onApply(plan: readonly BulkChange[]): void;
  onClose(): void;
}

/** Changes many channels at once, after a preview of the changes of each. */
export function BulkPatchDialog({ channels, onApply, onClose }: DialogProps) {
  const t = useTexts();
  const ui = useUiTexts();
  const id = useId();
  const [draft, setDraft] = useState(NO_CHANGE);
  const [isChecked, setChecked] = useState(false);
  const problems = checkBulk(draft);
  const isGood = Object.keys(problems).length === 0;
  const plan = useMemo(() => (isGood ? planOf(draft, channels) : []), [isGood, draft, channels]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setChecked(true);
    if (isGood && plan.length > 0) onApply(plan);
  };
  return (
    <Modal
      title={t("changeManyTitle", { count: channels.length })}
      size="lg"
      scrollBehavior="inside"
      onClose={onClose}
      footer={
        <>
          <Button variant="outline" onClick={onClose}>
            {ui("cancel")}
          </Button>
          <Button type="submit" form={id} disabled={isGood && plan.length === 0}>
            {t("changeNow", { count: plan.length })}
          </Button>
        </>
      }
    >
      <form id={id} noValidate onSubmit={submit}>
        <Fields
          draft={draft}
          problems={isChecked ? problems : {}}
          set={(change) => setDraft((current) => ({ ...current, ...change }))}
        />
      </form>
      <Preview plan={plan} total={channels.length} />
    </Modal>
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
  const modeOf = (value: string) => value as BulkDraft["tagMode"];
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
        onChange={(mode) => set({ tagMode: modeOf(mode) })}
      />
      {draft.tagMode === "set" && (
        <TextField label={t("tagNew")} value={draft.tag} error={error("tag")} onChange={(tag) => set({ tag })} />
      )}
      <SelectField
        label={t("groups")}
        value={draft.groupMode}
        choices={choices(["set", t("setTo")], ["add", t("addThese")], ["remove", t("removeThese")])}
        onChange={(mode) => set({ groupMode: modeOf(mode) })}
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
        onChange={(mode) => set({ mappingMode: modeOf(mode) })}
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

function Preview({ plan, total }: { readonly plan: readonly BulkChange[]; readonly total: number }) {
  const t = useTexts();
  const language = useLanguage();
  const count = (value: number) => formatCount(value, language);
  const rest = plan.length - MOST_SHOWN;
  return (
    <Box mt="5" role="region" aria-label={t("preview")}>
      <Text fontWeight="medium" mb="2" role="status">
        {plan.length === 0
          ? t("previewNone")
          : t("previewCount", { count: count(plan.length), rest: count(total - plan.length) })}
      </Text>
      {plan.length > 0 && (
        <Box as="ul" className="bulk-preview" tabIndex={0} aria-label={t("preview")}>
          {plan.slice(0, MOST_SHOWN).map((change) => (
            <PreviewLine key={change.channel.id} change={change} />
          ))}
          {rest > 0 && <li className="soft">{t("previewMore", { count: count(rest) })}</li>}
        </Box>
      )}
    </Box>
  );
}

function PreviewLine({ change }: { readonly change: BulkChange }) {
  const t = useTexts();
  const { channel, patch, undo } = change;
  const shown = (field: BulkField, value: string | number | undefined) => {
    if (field === "status") return t(value === 1 ? "enabled" : "disabledByHand");
    if (field === "group") return splitList(String(value)).join(", ") || "–";
    return value === "" || value === undefined ? "–" : String(value);
  };
  return (
    <li>
      <bdi className="strong">{channel.name}</bdi>
      <Flex gap="1" columnGap="4" wrap="wrap">
        {(Object.keys(patch) as BulkField[]).map((field) => (
          <span key={field}>
            <span className="soft">{t(FIELD_TEXT[field])}</span> <s>{shown(field, undo[field])}</s> →{" "}
            <span className="strong">{shown(field, patch[field])}</span>
          </span>
        ))}
      </Flex>
    </li>
  );
}
