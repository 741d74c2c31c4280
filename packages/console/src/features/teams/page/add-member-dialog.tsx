import { TEAM_ROLES, type TeamRole } from "@fairway/wire";
import { Stack } from "@chakra-ui/react";
import { useForm } from "../../../lib/use-form.ts";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { SelectField, TextField } from "../../../ui/form/field.tsx";
import { FormDialog } from "../../../ui/form/form-dialog.tsx";
import { useTexts } from "../texts.ts";
import { ROLE_HELP } from "./invite-dialog.tsx";
import { addMember } from "./members-api.ts";
import type { PartProps } from "./part.ts";

interface NewMember {
  readonly username: string;
  readonly role: TeamRole;
}

/** Lets an administrator make a person a member without an invitation. */
export function AddMemberDialog({ team, onClose }: Pick<PartProps, "team"> & { onClose(): void }) {
  const t = useTexts();
  const form = useForm<NewMember>({
    initial: { username: "", role: "member" },
    check: ({ username }) => (username.trim() === "" ? { username: t("usernameMissing") } : {}),
    save: async ({ username, role }) => {
      await addMember(team.id, username.trim(), role);
      toast("success", t("memberAdded", { name: username.trim() }));
      onClose();
    },
    onProblem: toastProblem,
  });
  const { values, set } = form;
  return (
    <FormDialog
      title={t("addMember")}
      submitLabel={t("addMemberSubmit")}
      isSaving={form.isSaving}
      onSubmit={() => void form.submit()}
      onClose={onClose}
    >
      <Stack gap="4">
        <TextField label={t("username")} isRequired {...form.input("username")} />
        <SelectField
          label={t("role")}
          value={values.role}
          help={t(ROLE_HELP[values.role])}
          choices={TEAM_ROLES.map((role) => ({ value: role, label: t(role) }))}
          onChange={(next) => set("role", TEAM_ROLES.find((role) => role === next) ?? "member")}
        />
      </Stack>
    </FormDialog>
  );
}
