import type { TeamView } from "@fairway/wire";
import { Button, Stack, Text } from "@chakra-ui/react";
import { useState } from "react";
import { isStale } from "../../../lib/problems.ts";
import { queryClient } from "../../../lib/query.ts";
import type { Version } from "../../../lib/rows.ts";
import { useForm } from "../../../lib/use-form.ts";
import { TagLimitsSection } from "../../../shared/tag-limits/late-section.tsx";
import { teamQuery } from "../../../shared/teams/team-query.ts";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { useUnsavedGuard } from "../../../ui/feedback/unsaved-guard.ts";
import { askForNewer } from "../../../ui/form/use-edited.ts";
import { updateTeam } from "../api.ts";
import { useTexts } from "../texts.ts";
import { AuditPanel } from "./audit-panel.tsx";
import { EndSection } from "./end-section.tsx";
import type { PartProps } from "./part.ts";
import { checkSettings, toChange, toSettingsDraft } from "./settings-form.ts";
import { AccessSection, BasicsSection, KeysSection, LimitsSection } from "./settings-sections.tsx";

interface SettingsProps extends PartProps {
  readonly version: Version<TeamView>;
}

/** The settings of a team; a form starts from the version that was read when it opened, as its save says. */
export function Settings({ team, rights, version }: SettingsProps) {
  const [base, setBase] = useState(version);
  const load = async () => {
    await queryClient.invalidateQueries({ queryKey: teamQuery(team.id).queryKey, refetchType: "none" });
    setBase(await queryClient.fetchQuery(teamQuery(team.id)));
  };
  return (
    <Stack gap="4" maxW="860px">
      <Form key={base.tag} base={base} rights={rights} load={load} />
      <EndSection team={team} rights={rights} />
      {rights.manage && <AuditPanel id={team.id} />}
    </Stack>
  );
}

interface FormProps extends Pick<PartProps, "rights"> {
  readonly base: Version<TeamView>;
  load(): Promise<void>;
}

function Form({ base, rights, load }: FormProps) {
  const t = useTexts();
  const form = useForm({
    initial: toSettingsDraft(base.row),
    check: (draft) =>
      Object.fromEntries(Object.entries(checkSettings(draft)).map(([name, problem]) => [name, t(problem)])),
    save: async (draft) => {
      await updateTeam(base, toChange(draft, base.row, rights));
      release();
      await load();
      toast("success", t("settingsSaved"));
    },
    onProblem: (problem) => {
      if (isStale(problem)) void loadNewer();
      else toastProblem(problem);
    },
  });
  const release = useUnsavedGuard(form.isDirty);
  async function loadNewer(): Promise<void> {
    if (await askForNewer()) await load().catch(toastProblem);
  }
  const part = { form, rights, team: base.row };
  return (
    <form
      noValidate
      autoComplete="off"
      onSubmit={(event) => {
        event.preventDefault();
        void form.submit();
      }}
    >
      <Stack gap="4">
        {!rights.manage && <Text color="fg.muted">{t("settingsRead")}</Text>}
        <BasicsSection {...part} />
        <KeysSection {...part} />
        <AccessSection {...part} />
        <LimitsSection {...part} />
        <TagLimitsSection
          value={form.values.tag_limits}
          isDisabled={!rights.manage}
          onChange={(text) => form.set("tag_limits", text)}
        />
        {rights.manage && (
          <Stack direction="row" align="center" gap="3">
            <Button type="submit" loading={form.isSaving} disabled={!form.isDirty}>
              {t("save")}
            </Button>
            {form.isDirty && (
              <Text textStyle="sm" color="fg.muted">
                {t("unsaved")}
              </Text>
            )}
          </Stack>
        )}
      </Stack>
    </form>
  );
}
