import { Stack } from "@chakra-ui/react";
import type { Channel } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { SelectField, TextField } from "../../../ui/form/field.tsx";
import { FormDialog } from "../../../ui/form/form-dialog.tsx";
import { problemText, toastUndo } from "../../../ui/feedback/toaster.ts";
import { toastProblem } from "../../../ui/feedback/toaster.ts";
import { typesQuery } from "../api.ts";
import { createPause, resumePause } from "../pauses-api.ts";
import { useTexts } from "../texts.ts";
import { buildPause, isSelecting, PAUSE_SPANS, type PauseForm } from "./pause-form.ts";

interface PauseDialogProps {
  /** The chosen rows; empty if the dialog selects by provider or tag. */
  readonly channels: readonly Channel[];
  onDone(): void;
  onClose(): void;
}

const SPAN_TEXT = {
  tests: "spanTests",
  resumed: "spanResumed",
  "1h": "span1h",
  "4h": "span4h",
  "24h": "span24h",
} as const;

function Selection(props: { readonly form: PauseForm; change(change: Partial<PauseForm>): void }) {
  const t = useTexts();
  const types = useQuery(typesQuery).data ?? [];
  const choices = [
    { value: "", label: t("anyType") },
    ...types.map((type) => ({ value: String(type.type), label: type.label })),
  ];
  return (
    <>
      <SelectField
        label={t("type")}
        value={props.form.type}
        choices={choices}
        onChange={(type) => props.change({ type })}
      />
      <TextField label={t("tag")} value={props.form.tag} onChange={(tag) => props.change({ tag })} />
    </>
  );
}

/** Pauses channels by provider, tag or selection, until a time or until their tests pass. */
export function PauseDialog({ channels, onDone, onClose }: PauseDialogProps) {
  const t = useTexts();
  const ids = channels.map(({ id }) => id);
  const [form, setForm] = useState<PauseForm>({ ids, type: "", tag: "", span: "tests", reason: "" });
  const [error, setError] = useState<string>();
  const [isSaving, setSaving] = useState(false);
  const change = (more: Partial<PauseForm>) => {
    setError(undefined);
    setForm((current) => ({ ...current, ...more }));
  };
  const submit = () => {
    if (!isSelecting(form)) return setError(t("pauseNothing"));
    setSaving(true);
    createPause(buildPause(form))
      .then(
        (pause) => {
          const text = t("paused", { count: pause.channels.length });
          toastUndo(text, () => void resumePause(pause.id).catch(toastProblem));
          onDone();
        },
        (problem: unknown) => setError(problemText(problem)),
      )
      .finally(() => setSaving(false));
  };
  return (
    <FormDialog
      title={ids.length > 0 ? t("pauseManyTitle", { count: ids.length }) : t("pauseTitle")}
      submitLabel={t("pauseNow")}
      isSaving={isSaving}
      onSubmit={submit}
      onClose={onClose}
    >
      <Stack gap="4">
        {ids.length === 0 && <Selection form={form} change={change} />}
        <SelectField
          label={t("pauseSpan")}
          help={t("pauseSpanHelp")}
          value={form.span}
          choices={PAUSE_SPANS.map((span) => ({ value: span, label: t(SPAN_TEXT[span]) }))}
          onChange={(text) => change({ span: PAUSE_SPANS.find((span) => span === text) ?? "tests" })}
        />
        <TextField
          label={t("pauseReason")}
          value={form.reason}
          {...(error === undefined ? {} : { error })}
          onChange={(reason) => change({ reason })}
        />
      </Stack>
    </FormDialog>
  );
}
