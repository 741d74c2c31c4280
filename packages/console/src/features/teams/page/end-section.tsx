import { TEAM_STATUS } from "@fairway/wire";
import { Button, Flex, Text } from "@chakra-ui/react";
import { useState } from "react";
import { useNavigate } from "react-router";
import { useForm } from "../../../lib/use-form.ts";
import { Money } from "../../../ui/display/money.tsx";
import { ask } from "../../../ui/feedback/ask.ts";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { TextField } from "../../../ui/form/field.tsx";
import { FormDialog } from "../../../ui/form/form-dialog.tsx";
import { FormSection } from "../../../ui/form/form-drawer.tsx";
import { deleteTeam, leaveTeam, switchTeam } from "../api.ts";
import { useTexts } from "../texts.ts";
import type { PartProps } from "./part.ts";

/** Leaving, switching off and deleting. */
export function EndSection({ team, rights }: PartProps) {
  const t = useTexts();
  const navigate = useNavigate();
  const [isDeleting, setDeleting] = useState(false);
  const isOn = team.status === TEAM_STATUS.on;
  const { name } = team;
  const toggle = async () => {
    const question = { title: t("offTitle", { name }), body: t("offBody"), confirm: t("switchOff") };
    if (isOn && !(await ask({ ...question, isDangerous: true }))) return;
    await switchTeam(team.id, isOn ? TEAM_STATUS.off : TEAM_STATUS.on).then(
      () => toast("success", t(isOn ? "teamOff" : "teamOn", { name })),
      toastProblem,
    );
  };
  const leave = async () => {
    const body = t(team.settings.on_leave === "transfer" ? "leaveBodyTransfer" : "leaveBodyDisable");
    if (!(await ask({ title: t("leaveTitle", { name }), body, confirm: t("leave"), isDangerous: true }))) return;
    await leaveTeam(team.id).then(() => {
      toast("success", t("left", { name }));
      void navigate("/team");
    }, toastProblem);
  };
  if (!rights.isMember && !rights.own) return null;
  return (
    <FormSection title={t("sectionEnd")}>
      <Flex gap="2" wrap="wrap">
        {rights.isMember && (
          <Button variant="outline" onClick={() => void leave()}>
            {t("leave")}
          </Button>
        )}
        {rights.own && (
          <>
            <Button variant="outline" onClick={() => void toggle()}>
              {t(isOn ? "switchOff" : "switchOn")}
            </Button>
            <Button variant="outline" colorPalette="port" onClick={() => setDeleting(true)}>
              {t("deleteTeam")}
            </Button>
          </>
        )}
      </Flex>
      {isDeleting && <DeleteDialog team={team} onClose={() => setDeleting(false)} />}
    </FormSection>
  );
}

/** Deleting stops every key at once, so it takes the short name. */
function DeleteDialog({ team, onClose }: Pick<PartProps, "team"> & { onClose(): void }) {
  const t = useTexts();
  const navigate = useNavigate();
  const form = useForm({
    initial: { confirm: "" },
    check: ({ confirm }): { confirm?: string } =>
      confirm.trim() === team.slug ? {} : { confirm: t("confirmSlug", { slug: team.slug }) },
    save: async () => {
      await deleteTeam(team);
      toast("success", t("teamDeleted", { name: team.name }));
      void navigate("/team");
    },
    onProblem: toastProblem,
  });
  return (
    <FormDialog
      title={t("deleteTitle", { name: team.name })}
      submitLabel={t("deleteTeam")}
      isSaving={form.isSaving}
      onSubmit={() => void form.submit()}
      onClose={onClose}
    >
      <Text color="fg.muted" mb="3">
        {t("deleteBody")}{" "}
        {team.quota > 0 && (
          <>
            {t("balanceStays")} <Money quota={team.quota} />
          </>
        )}
      </Text>
      <TextField label={t("confirmLabel", { slug: team.slug })} isMono {...form.input("confirm")} />
    </FormDialog>
  );
}
