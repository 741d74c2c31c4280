import type { TeamToken } from "@fairway/wire";
import { Stack } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useForm } from "../../../lib/use-form.ts";
import { fromLocalInput } from "../../../lib/format.ts";
import type { Version } from "../../../lib/rows.ts";
import { modelsQuery } from "../../../session/models.ts";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { ChipsField } from "../../../ui/form/chips-field.tsx";
import { SelectField, SwitchField, TextField } from "../../../ui/form/field.tsx";
import { FormDialog } from "../../../ui/form/form-dialog.tsx";
import { MoneyField } from "../../../ui/form/money-field.tsx";
import { useTexts } from "../texts.ts";
import { newKey, toKeyDraft, toKeyInput, type KeyDraft } from "./key-form.ts";
import { createKey, updateKey } from "./keys-api.ts";
import type { PartProps } from "./part.ts";
import { serviceAccountsQuery } from "./service-accounts-api.ts";

interface KeyDialogProps extends PartProps {
  /** The key that is edited; absent for a new one. */
  readonly edited?: Version<TeamToken>;
  onCreated(token: TeamToken): void;
  onClose(): void;
}

/** Makes a key of a team, or changes one. */
export function KeyDialog({ team, rights, edited, onCreated, onClose }: KeyDialogProps) {
  const t = useTexts();
  const [usual = ""] = team.settings.groups;
  const form = useForm<KeyDraft>({
    initial: edited ? toKeyDraft(edited.row) : newKey(usual),
    check: ({ name, unlimited, quota, expires }) => ({
      ...(name.trim() === "" && { name: t("nameMissing") }),
      ...(!unlimited && (quota ?? 0) <= 0 && { quota: t("badAmount") }),
      ...(expires !== "" && fromLocalInput(expires) === undefined && { expires: t("badTime") }),
    }),
    save: async (draft) => {
      if (!edited) return onCreated(await createKey(team.id, toKeyInput(draft), Number(draft.holder)));
      await updateKey(team.id, edited, toKeyInput(draft, edited.row));
      toast("success", t("keySaved", { name: draft.name.trim() }));
      onClose();
    },
    onProblem: toastProblem,
  });
  return (
    <FormDialog
      title={edited ? t("editKey", { name: edited.row.name }) : t("addKey")}
      submitLabel={t(edited ? "save" : "create")}
      isSaving={form.isSaving}
      onSubmit={() => void form.submit()}
      onClose={onClose}
    >
      <Fields form={form} team={team} />
      {!edited && rights.manage && <Holder form={form} team={team} />}
    </FormDialog>
  );
}

interface FieldsProps extends Pick<PartProps, "team"> {
  readonly form: ReturnType<typeof useForm<KeyDraft>>;
}

/** Lets admins give a new key to a service account. */
function Holder({ form, team }: FieldsProps) {
  const t = useTexts();
  const { data = [] } = useQuery(serviceAccountsQuery(team.id));
  if (data.length === 0) return null;
  return (
    <SelectField
      label={t("heldBy")}
      help={t("heldByHelp")}
      value={form.values.holder}
      choices={[
        { value: "0", label: t("heldByMe") },
        ...data.map(({ id, name }) => ({ value: String(id), label: name })),
      ]}
      onChange={(holder) => form.set("holder", holder)}
    />
  );
}

function Fields({ form, team }: FieldsProps) {
  const t = useTexts();
  const models = useQuery(modelsQuery).data ?? [];
  const { values, errors, set } = form;
  const { groups, max_key_days: days } = team.settings;
  return (
    <Stack gap="4">
      <TextField label={t("name")} isRequired placeholder={t("keyNameHint")} {...form.input("name")} />
      <SwitchField
        label={t("unlimited")}
        help={t("unlimitedHelp")}
        isOn={values.unlimited}
        onChange={(isOn) => set("unlimited", isOn)}
      />
      {!values.unlimited && (
        <MoneyField
          label={t("keyLimit")}
          quota={values.quota}
          error={errors.quota}
          onChange={(quota) => set("quota", quota)}
        />
      )}
      <TextField
        label={t("expires")}
        type="datetime-local"
        help={days > 0 ? t("expiresMost", { days }) : t("expiresHelp")}
        {...form.input("expires")}
      />
      {groups.length > 1 && (
        <SelectField
          label={t("group")}
          value={values.group}
          choices={groups.map((name) => ({ value: name, label: name }))}
          onChange={(group) => set("group", group)}
        />
      )}
      <ChipsField
        label={t("models")}
        help={t("keyModelsHelp")}
        values={values.models}
        suggestions={models}
        duplicateText={t("repeated")}
        onChange={(value) => set("models", value)}
      />
    </Stack>
  );
}
