import { REDEMPTION_BATCH_CAP, type Redemption } from "@fairway/wire";
import { useRef } from "react";
import { useForm } from "../../lib/use-form.ts";
import { TextField } from "../../ui/form/field.tsx";
import { DrawerForm, DrawerShell, FormSection } from "../../ui/form/form-drawer.tsx";
import { MoneyField } from "../../ui/form/money-field.tsx";
import { toast, toastProblem } from "../../ui/feedback/toaster.ts";
import type { Edited } from "../../ui/form/use-edited.ts";
import { EditDrawer } from "../../ui/form/resource-drawer.tsx";
import { useCloseTo } from "../../ui/form/use-close-to.ts";
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

function toDraft(row: Redemption): CodeDraft {
  return { name: row.name, quota: row.quota, count: "1" };
}

export function EditCode() {
  const t = useTexts();
  return (
    <EditDrawer
      title={t("edit")}
      list="/redemption"
      query={redemptionQuery}
      toDraft={toDraft}
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
      form={form}
      list="/redemption"
      createLabel={edited === undefined ? t("create") : undefined}
      onSaved={() => made.current.length > 0 && createdCodes.write({ name: values.name.trim(), codes: made.current })}
    >
      <FormSection title={t("section")}>
        <TextField label={t("name")} isRequired placeholder={t("nameHint")} {...form.input("name")} />
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
            {...form.input("count")}
          />
        )}
      </FormSection>
    </DrawerForm>
  );
}
