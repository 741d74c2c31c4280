import { useState } from "react";
import { TextField } from "../../ui/form/field.tsx";
import { FormDialog } from "../../ui/form/form-dialog.tsx";
import { useTexts } from "./texts.ts";

/** Prompts for the tag of many channels. */
export function TagDialog(props: { readonly count: number; onTag(tag: string): void; onClose(): void }) {
  const t = useTexts();
  const [text, setText] = useState("");
  return (
    <FormDialog
      title={t("tagManyTitle", { count: props.count })}
      submitLabel={t("tagNow")}
      onSubmit={() => props.onTag(text.trim())}
      onClose={props.onClose}
    >
      <TextField label={t("tag")} help={t("tagManyHelp")} value={text} onChange={setText} />
    </FormDialog>
  );
}
