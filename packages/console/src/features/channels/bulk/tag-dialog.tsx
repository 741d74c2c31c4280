import type { Channel } from "@fairway/wire";
import { useState } from "react";
import { TextField } from "../../../ui/form/field.tsx";
import { FormDialog } from "../../../ui/form/form-dialog.tsx";
import type { BulkChange } from "./bulk-calls.ts";
import { NO_CHANGE, buildPlan } from "./bulk-patch.ts";
import { useTexts } from "../texts.ts";

interface TagDialogProps {
  readonly channels: readonly Channel[];
  onApply(plan: readonly BulkChange[]): void;
  onClose(): void;
}

/** Prompts for the tag of many channels. */
export function TagDialog({ channels, onApply, onClose }: TagDialogProps) {
  const t = useTexts();
  const [text, setText] = useState("");
  const apply = () => {
    const tag = text.trim();
    onApply(buildPlan({ ...NO_CHANGE, tagMode: tag === "" ? "remove" : "set", tag }, channels));
  };
  return (
    <FormDialog
      title={t("tagManyTitle", { count: channels.length })}
      submitLabel={t("tagNow")}
      onSubmit={apply}
      onClose={onClose}
    >
      <TextField label={t("tag")} help={t("tagManyHelp")} value={text} onChange={setText} />
    </FormDialog>
  );
}
