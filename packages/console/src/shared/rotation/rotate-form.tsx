import { useState } from "react";
import { toastProblem } from "../../ui/feedback/toaster.ts";
import { SelectField } from "../../ui/form/field.tsx";
import { FormDialog } from "../../ui/form/form-dialog.tsx";
import { useTexts } from "./texts.ts";

interface RotateFormProps<Rotated> {
  /** Name of the token. */
  readonly name: string;
  /** Replaces the key; the old one works for that many more seconds. */
  rotate(graceSeconds: number): Promise<Rotated>;
  onRotated(rotated: Rotated): void;
  /** The choice at first: a key that leaked ends at once. */
  readonly grace?: "0";
  onClose(): void;
}

const HOUR = 3_600;
const DAY = 24 * HOUR;

/** Gives a token a new key, and asks how long the old one still works. */
export function RotateForm<Rotated>({ name, rotate, onRotated, onClose, ...usual }: RotateFormProps<Rotated>) {
  const t = useTexts();
  const [grace, setGrace] = useState(usual.grace ?? String(DAY));
  const [isSaving, setSaving] = useState(false);
  const submit = () => {
    setSaving(true);
    rotate(Number(grace))
      .then(onRotated, toastProblem)
      .finally(() => setSaving(false));
  };
  return (
    <FormDialog
      title={t("rotateTitle", { name })}
      submitLabel={t("rotate")}
      isSaving={isSaving}
      onSubmit={submit}
      onClose={onClose}
    >
      <SelectField
        label={t("grace")}
        help={t("graceHelp")}
        value={grace}
        choices={[
          { value: "0", label: t("graceNone") },
          { value: String(HOUR), label: t("hour") },
          { value: String(DAY), label: t("day") },
          { value: String(7 * DAY), label: t("week") },
          { value: String(30 * DAY), label: t("thirtyDays") },
        ]}
        onChange={setGrace}
      />
    </FormDialog>
  );
}
