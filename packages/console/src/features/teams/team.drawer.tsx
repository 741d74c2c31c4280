import { useRef } from "react";
import { useNavigate } from "react-router";
import { useForm } from "../../lib/use-form.ts";
import { TextField } from "../../ui/form/field.tsx";
import { DrawerForm, DrawerShell, FormSection } from "../../ui/form/form-drawer.tsx";
import { useCloseTo } from "../../ui/form/use-close-to.ts";
import { toast, toastProblem } from "../../ui/feedback/toaster.ts";
import { createTeam } from "./api.ts";
import { parseLabels } from "./labels.ts";
import { useTexts } from "./texts.ts";

const NEW_TEAM = { name: "", slug: "", description: "", labels: "" };

/** Creates a team and opens its page. */
export function AddTeam() {
  const t = useTexts();
  const close = useCloseTo("/team");
  const navigate = useNavigate();
  const made = useRef<number>(undefined);
  const form = useForm({
    initial: NEW_TEAM,
    check: ({ name, labels }) => ({
      ...(name.trim() === "" && { name: t("nameMissing") }),
      ...(parseLabels(labels) === undefined && { labels: t("badLabels") }),
    }),
    save: async ({ name, slug, description, labels }) => {
      const team = await createTeam({
        name: name.trim(),
        description: description.trim(),
        labels: parseLabels(labels) ?? {},
        ...(slug.trim() !== "" && { slug: slug.trim() }),
      });
      made.current = team.id;
      toast("success", t("teamCreated", { name: team.name }));
    },
    onProblem: toastProblem,
  });
  const open = () => made.current !== undefined && void navigate(`/team/${made.current}`);
  return (
    <DrawerShell kind="create" title={t("add")} onClose={close}>
      <DrawerForm form={form} list="/team" createLabel={t("create")} onSaved={open}>
        <FormSection title={t("sectionTeam")}>
          <TextField label={t("name")} isRequired placeholder={t("nameHint")} {...form.input("name")} />
          <TextField label={t("slug")} isMono help={t("slugHelp")} {...form.input("slug")} />
          <TextField label={t("description")} {...form.input("description")} />
          <TextField label={t("labels")} help={t("labelsHelp")} {...form.input("labels")} />
        </FormSection>
      </DrawerForm>
    </DrawerShell>
  );
}
