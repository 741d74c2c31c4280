import { formatQuota } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { useForm } from "../../lib/use-form.ts";
import { useQuotaDisplay } from "../../ui/display/money.tsx";
import { toast, toastProblem } from "../../ui/feedback/toaster.ts";
import { FormDialog } from "../../ui/form/form-dialog.tsx";
import { MoneyField } from "../../ui/form/money-field.tsx";
import { moveReward } from "./api.ts";
import { useTexts } from "./texts.ts";

/** Moves part of the invitation rewards to the balance: at least one unit of money. */
export function MoveDialog(props: { readonly pending: number; onClose(): void }) {
  const t = useTexts();
  const language = useLanguage();
  const display = useQuotaDisplay();
  const print = (quota: number) => formatQuota(quota, display, language);
  const form = useForm<{ readonly quota: number | undefined }>({
    initial: { quota: props.pending },
    check: ({ quota = 0 }) => {
      if (quota < display.quotaPerUnit) return { quota: t("moveLeast", { min: print(display.quotaPerUnit) }) };
      return quota > props.pending ? { quota: t("moveMost", { pending: print(props.pending) }) } : {};
    },
    save: async ({ quota = 0 }) => {
      await moveReward(quota);
      toast("success", t("moved"));
      props.onClose();
    },
    onProblem: toastProblem,
  });
  return (
    <FormDialog
      title={t("moveTitle")}
      submitLabel={t("move")}
      isSaving={form.isSaving}
      onSubmit={() => void form.submit()}
      onClose={props.onClose}
    >
      <MoneyField
        label={t("moveAmount")}
        help={t("moveHelp", { pending: print(props.pending) })}
        quota={form.values.quota}
        error={form.errors.quota}
        most={props.pending}
        onChange={(quota) => form.set("quota", quota)}
      />
    </FormDialog>
  );
}
