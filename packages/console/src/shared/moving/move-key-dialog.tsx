import { tokenMove } from "@fairway/wire";
import { Stack, Text } from "@chakra-ui/react";
import { useState } from "react";
import { call } from "../../lib/http.ts";
import { useUser } from "../../session/session.ts";
import { useOwnTeams } from "../../session/teams.ts";
import { toast, toastProblem } from "../../ui/feedback/toaster.ts";
import { SelectField } from "../../ui/form/field.tsx";
import { FormDialog } from "../../ui/form/form-dialog.tsx";
import { useTexts } from "./texts.ts";

interface MoveKeyProps {
  readonly token: { readonly id: number; readonly name: string };
  /** The team that has the key; 0 = it is the reader's own. */
  readonly teamId: number;
  /** Called when the key has another owner. */
  onMoved(): void;
  onClose(): void;
}

/** The choice of the reader in place of a team. */
const MYSELF = "0";

/** Gives a key to a team of the reader, or to the reader. */
export function MoveKeyDialog({ token: { id, name }, teamId, onMoved, onClose }: MoveKeyProps) {
  const t = useTexts();
  const ownId = useUser()?.id ?? 0;
  const teams = (useOwnTeams() ?? []).filter((team) => team.id !== teamId && team.role !== "viewer");
  const [chosen, setChosen] = useState("");
  const [isSaving, setSaving] = useState(false);
  const choices = [
    { value: "", label: t("choose") },
    ...(teamId === 0 ? [] : [{ value: MYSELF, label: t("myself") }]),
    ...teams.map((team) => ({ value: String(team.id), label: team.name })),
  ];
  const submit = () => {
    const to = choices.find(({ value }) => value === chosen);
    if (!to || chosen === "") return;
    setSaving(true);
    call(tokenMove, { params: { id }, body: chosen === MYSELF ? { user_id: ownId } : { team_id: Number(chosen) } })
      .then(() => {
        toast("success", t("moved", { name, to: to.label }));
        onMoved();
        onClose();
      }, toastProblem)
      .finally(() => setSaving(false));
  };
  return (
    <FormDialog
      title={t("title", { name })}
      submitLabel={t("move")}
      isSaving={isSaving}
      onSubmit={submit}
      onClose={onClose}
    >
      <Stack gap="4">
        <Text color="fg.muted">{t("lead")}</Text>
        <SelectField label={t("owner")} value={chosen} choices={choices} onChange={setChosen} />
      </Stack>
    </FormDialog>
  );
}
