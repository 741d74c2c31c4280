import { Button, Dialog, Portal } from "@chakra-ui/react";
import { useId } from "react";
import { formatQuota } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { useForm } from "../../lib/use-form.ts";
import { useQuotaDisplay } from "../../ui/display/money.tsx";
import { toast, toastProblem } from "../../ui/feedback/toaster.ts";
import { MoneyField } from "../../ui/form/money-field.tsx";
import { useTexts as useUiTexts } from "../../ui/texts.ts";
import { moveReward } from "./api.ts";
import { useTexts } from "./texts.ts";

/** Moves a part of what invitations earned to the balance: one unit of money at least. */
export function MoveDialog(props: { readonly pending: number; onClose(): void }) {
  const t = useTexts();
  const ui = useUiTexts();
  const language = useLanguage();
  const display = useQuotaDisplay();
  const id = useId();
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
    <Dialog.Root open onOpenChange={(change) => !change.open && props.onClose()} placement="center" size="sm">
      <Portal>
        <Dialog.Backdrop />
        <Dialog.Positioner px="4">
          <Dialog.Content>
            <Dialog.Header>
              <Dialog.Title>{t("moveTitle")}</Dialog.Title>
            </Dialog.Header>
            <Dialog.Body>
              <form
                id={id}
                noValidate
                onSubmit={(event) => {
                  event.preventDefault();
                  void form.submit();
                }}
              >
                <MoneyField
                  label={t("moveAmount")}
                  help={t("moveHelp", { pending: print(props.pending) })}
                  quota={form.values.quota}
                  error={form.errors.quota}
                  most={props.pending}
                  onChange={(quota) => form.set("quota", quota)}
                />
              </form>
            </Dialog.Body>
            <Dialog.Footer>
              <Button variant="outline" onClick={props.onClose}>
                {ui("cancel")}
              </Button>
              <Button type="submit" form={id} loading={form.isSaving}>
                {t("move")}
              </Button>
            </Dialog.Footer>
          </Dialog.Content>
        </Dialog.Positioner>
      </Portal>
    </Dialog.Root>
  );
}
