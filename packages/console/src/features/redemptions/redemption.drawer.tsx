import { REDEMPTION_BATCH_CAP, type Redemption } from "@fairway/wire";
import { useRef } from "react";
import { useParams } from "react-router";
import { useForm } from "../../lib/use-form.ts";
import { TextField } from "../../ui/form/field.tsx";
import { DrawerForm, DrawerShell, FormSection } from "../../ui/form/form-drawer.tsx";
import { MoneyField } from "../../ui/form/money-field.tsx";
import { useTexts as useUiTexts } from "../../ui/texts.ts";
import { toast, toastProblem } from "../../ui/feedback/toaster.ts";
import type { Edited } from "../../ui/form/use-edited.ts";
import { EditDrawer, useCloseTo } from "../../ui/form/resource-drawer.tsx";
import { createCodes, redemptionQuery, saveCode } from "./api.ts";
import { createdCodes } from "./created.ts";
import { useTexts } from "./texts.ts";

interface CodeDraft {
  readonly name: string;
  readonly quota: number | undefined;
  readonly count: string;
}

const NEW_CODES: CodeDraft = { name: "", quota: 100_000, count: "1" };

export function AddCodes() {
  const t = useTexts();
  const close = useCloseTo("/redemption");
  return (
    <DrawerShell kind="create" title={t("add")} onClose={close}>
      <CodeForm initial={NEW_CODES} edited={undefined} />
    </DrawerShell>
  );
}

function draftOf(row: Redemption): CodeDraft {
  return { name: row.name, quota: row.quota, count: "1" };
}

export function EditCode() {
  const t = useTexts();
  const id = Number(useParams().id);
  return (
    <EditDrawer
      title={t("edit")}
      list="/redemption"
      id={id}
      query={redemptionQuery(id)}
      draftOf={draftOf}
      form={(initial, edited) => <CodeForm initial={initial} edited={edited} />}
    />
  );
}

function isCount(text: string): boolean {
  const count = Number(text);
  return Number.isInteger(count) && count >= 1 && count <= REDEMPTION_BATCH_CAP;
}

function CodeForm(props: { readonly initial: CodeDraft; readonly edited: Edited<Redemption> | undefined }) {
  const t = useTexts();
  const ui = useUiTexts();
  const close = useCloseTo("/redemption");
  const { edited, initial } = props;
  const made = useRef<readonly string[]>([]);
  const form = useForm<CodeDraft>({
    initial,
    check: ({ name, quota, count }) => ({
      ...(name.trim() === "" && { name: t("nameMissing") }),
      ...((quota ?? 0) <= 0 && { quota: t("valueInvalid") }),
      ...(!isCount(count) && { count: t("countInvalid", { most: REDEMPTION_BATCH_CAP }) }),
    }),
    save: async ({ name, quota = 0, count }) => {
      if (edited === undefined) {
        made.current = await createCodes(name.trim(), quota, Number(count));
      } else {
        await saveCode(edited, name.trim(), quota);
        toast("success", t("saved", { name: name.trim() }));
      }
    },
    onProblem: edited?.onProblem ?? toastProblem,
  });
  const { values, errors, set } = form;
  return (
    <DrawerForm
      isDirty={form.isDirty}
      isSaving={form.isSaving}
      submitLabel={edited === undefined ? t("create") : ui("save")}
      onSubmit={form.submit}
      onClose={close}
      onSaved={() => made.current.length > 0 && createdCodes.write({ name: values.name.trim(), codes: made.current })}
    >
      <FormSection title={t("section")}>
        <TextField
          label={t("name")}
          isRequired
          placeholder={t("nameHint")}
          value={values.name}
          error={errors.name}
          onChange={(value) => set("name", value)}
        />
        <MoneyField
          label={t("value")}
          quota={values.quota}
          error={errors.quota}
          onChange={(quota) => set("quota", quota)}
        />
        {edited === undefined && (
          <TextField
            label={t("count")}
            help={t("countHelp", { most: REDEMPTION_BATCH_CAP })}
            value={values.count}
            error={errors.count}
            onChange={(value) => set("count", value)}
          />
        )}
      </FormSection>
    </DrawerForm>
  );
}
