import type { TeamView } from "@fairway/wire";
import { Stack } from "@chakra-ui/react";
import { getChangeKey } from "../../../lib/change-keys.ts";
import { formatQuota } from "../../../lib/format.ts";
import { useLanguage } from "../../../lib/i18n.ts";
import { useForm } from "../../../lib/use-form.ts";
import { useSelf } from "../../../session/self.ts";
import { useQuotaDisplay } from "../../../ui/display/money.tsx";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { SelectField, TextField } from "../../../ui/form/field.tsx";
import { FormDialog } from "../../../ui/form/form-dialog.tsx";
import { MoneyField } from "../../../ui/form/money-field.tsx";
import { adjustTeam, transferToTeam } from "../api.ts";
import { useTexts } from "../texts.ts";

interface MoneyProps {
  readonly team: TeamView;
  onClose(): void;
}

function usePrint(): (quota: number) => string {
  const language = useLanguage();
  const display = useQuotaDisplay();
  return (quota) => formatQuota(quota, display, language);
}

/** Moves money from the reader's balance to the wallet. */
export function TransferDialog({ team, onClose }: MoneyProps) {
  const t = useTexts();
  const print = usePrint();
  const own = useSelf()?.quota;
  const form = useForm<{ readonly quota: number | undefined }>({
    initial: { quota: undefined },
    check: ({ quota = 0 }) => {
      if (quota <= 0) return { quota: t("badAmount") };
      return own !== undefined && quota > own ? { quota: t("notEnough", { balance: print(own) }) } : {};
    },
    save: async (values) => {
      const { quota = 0 } = values;
      await transferToTeam({ id: team.id, quota, key: getChangeKey(values) });
      toast("success", t("transferred", { amount: print(quota), name: team.name }));
      onClose();
    },
    onProblem: toastProblem,
  });
  return (
    <FormDialog
      title={t("transferTitle", { name: team.name })}
      submitLabel={t("transferSubmit")}
      isSaving={form.isSaving}
      onSubmit={() => void form.submit()}
      onClose={onClose}
    >
      <MoneyField
        label={t("amount")}
        help={own === undefined ? "" : t("ownBalance", { balance: print(own) })}
        quota={form.values.quota}
        error={form.errors.quota}
        {...(own !== undefined && { most: own })}
        onChange={(quota) => form.set("quota", quota)}
      />
    </FormDialog>
  );
}

interface Adjustment {
  readonly way: "add" | "take";
  readonly quota: number | undefined;
  readonly note: string;
}

/** Lets an administrator change the balance by hand. */
export function AdjustDialog({ team, onClose }: MoneyProps) {
  const t = useTexts();
  const print = usePrint();
  const form = useForm<Adjustment>({
    initial: { way: "add", quota: undefined, note: "" },
    check: ({ way, quota = 0 }) => {
      if (quota <= 0) return { quota: t("badAmount") };
      return way === "take" && quota > team.quota ? { quota: t("notEnough", { balance: print(team.quota) }) } : {};
    },
    save: async (values) => {
      const { way, quota = 0, note } = values;
      await adjustTeam({ id: team.id, quota: way === "add" ? quota : -quota, key: getChangeKey(values) }, note.trim());
      toast("success", t("adjusted", { name: team.name }));
      onClose();
    },
    onProblem: toastProblem,
  });
  const { values, errors, set } = form;
  return (
    <FormDialog
      title={t("adjustTitle", { name: team.name })}
      submitLabel={t("adjustSubmit")}
      isSaving={form.isSaving}
      onSubmit={() => void form.submit()}
      onClose={onClose}
    >
      <Stack gap="4">
        <SelectField
          label={t("way")}
          value={values.way}
          choices={[
            { value: "add", label: t("wayAdd") },
            { value: "take", label: t("wayTake") },
          ]}
          onChange={(way) => set("way", way === "take" ? "take" : "add")}
        />
        <MoneyField
          label={t("amount")}
          help={t("teamBalance", { balance: print(team.quota) })}
          quota={values.quota}
          error={errors.quota}
          onChange={(quota) => set("quota", quota)}
        />
        <TextField label={t("note")} help={t("noteHelp")} {...form.input("note")} />
      </Stack>
    </FormDialog>
  );
}
