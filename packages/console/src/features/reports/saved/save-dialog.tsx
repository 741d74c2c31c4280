import { Stack } from "@chakra-ui/react";
import { REPORT_CADENCES, splitList, type SavedReport } from "@fairway/wire";
import { useState } from "react";
import { ApiProblem } from "../../../lib/problems.ts";
import { SelectField, SwitchField, TextField } from "../../../ui/form/field.tsx";
import { FormDialog } from "../../../ui/form/form-dialog.tsx";
import { problemText, toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { useTexts } from "../texts.ts";
import type { SavedValues } from "./api.ts";

const CADENCE_TEXTS = { none: "notScheduled", day: "eachDay", week: "eachWeek", month: "eachMonth" } as const;
const HOURS = Array.from({ length: 24 }, (_, hour) => ({
  value: String(hour),
  label: `${String(hour).padStart(2, "0")}:00`,
}));
const USUAL: SavedValues = { name: "", cadence: "none", hour: 6, mail: true, receivers: [], attach: "none" };

interface SaveDialogProps {
  /** The report whose name and schedule are changed; undefined for a new one. */
  readonly saved: SavedReport | undefined;
  /** A team has no mailbox: its reports go to the people who are named. */
  readonly isOfTeam: boolean;
  save(values: SavedValues): Promise<void>;
  onClose(): void;
}

/** Name and schedule of a saved report. */
export function SaveDialog({ saved, isOfTeam, save, onClose }: SaveDialogProps) {
  const t = useTexts();
  const [values, setValues] = useState<SavedValues>(saved ?? USUAL);
  const [people, setPeople] = useState((saved?.receivers ?? []).join(", "));
  const [error, setError] = useState<string>();
  const [isSaving, setSaving] = useState(false);
  const change = (next: Partial<SavedValues>) => setValues({ ...values, ...next });
  const isScheduled = values.cadence !== "none";
  async function submit(): Promise<void> {
    if (values.name.trim() === "") return setError(t("nameMissing"));
    setSaving(true);
    try {
      const { name, cadence, hour, mail, attach } = values;
      await save({ name, cadence, hour, mail, attach, receivers: splitList(people.replaceAll(/[，、\s]/g, ",")) });
      toast("success", t("saved"));
      onClose();
    } catch (problem) {
      if (problem instanceof ApiProblem && problem.field === "name") setError(problemText(problem));
      else toastProblem(problem);
    } finally {
      setSaving(false);
    }
  }
  return (
    <FormDialog
      title={saved ? t("editSaved") : t("saveReport")}
      submitLabel={t("save")}
      isSaving={isSaving}
      onSubmit={() => void submit()}
      onClose={onClose}
    >
      <Stack gap="4">
        <TextField
          label={t("savedName")}
          value={values.name}
          error={error}
          isRequired
          onChange={(name) => {
            setError(undefined);
            change({ name });
          }}
        />
        <SelectField
          label={t("schedule")}
          help={t("scheduleHelp")}
          value={values.cadence}
          choices={REPORT_CADENCES.map((name) => ({ value: name, label: t(CADENCE_TEXTS[name]) }))}
          onChange={(name) => change({ cadence: REPORT_CADENCES.find((one) => one === name) ?? "none" })}
        />
        {isScheduled && (
          <>
            <SelectField
              label={t("hour")}
              value={String(values.hour)}
              choices={HOURS}
              onChange={(hour) => change({ hour: Number(hour) })}
            />
            {!isOfTeam && (
              <SwitchField
                label={t("mail")}
                help={t("mailHelp")}
                isOn={values.mail}
                onChange={(mail) => change({ mail })}
              />
            )}
            <TextField
              label={t(isOfTeam ? "teamReceivers" : "receivers")}
              help={t(isOfTeam ? "teamReceiversHelp" : "receiversHelp")}
              value={people}
              onChange={setPeople}
            />
            <SwitchField
              label={t("attach")}
              help={t("attachHelp")}
              isOn={values.attach === "csv"}
              onChange={(isOn) => change({ attach: isOn ? "csv" : "none" })}
            />
          </>
        )}
      </Stack>
    </FormDialog>
  );
}
