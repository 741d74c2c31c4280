import { USUAL_LIMIT, WEBHOOK_LANGUAGES, type Notifications } from "@fairway/wire";
import { Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { LANGUAGES } from "../../../lib/i18n.ts";
import { useForm } from "../../../lib/use-form.ts";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { SelectField, SwitchField } from "../../../ui/form/field.tsx";
import { DrawerForm, DrawerLoading, DrawerShell, FormSection } from "../../../ui/form/form-drawer.tsx";
import { MoneyField } from "../../../ui/form/money-field.tsx";
import { useCloseTo } from "../../../ui/form/use-close-to.ts";
import { chooseMails, mailsQuery } from "../api.ts";
import { OWN } from "../owner.ts";
import { useTexts } from "../texts.ts";
import { QuietFields } from "./quiet-fields.tsx";
import { checkQuiet, toQuiet, toQuietDraft, type QuietDraft } from "./quiet-form.ts";
import { TypesField } from "./types-field.tsx";

interface MailDraft extends QuietDraft {
  readonly types: readonly string[];
  readonly language: Notifications["language"];
  readonly hasOwnLimit: boolean;
  /** Quota units; undefined while the text is not an amount. */
  readonly balanceLimit: number | undefined;
}

export function MailDrawer() {
  const t = useTexts();
  const close = useCloseTo(OWN.path);
  const { data, error, refetch } = useQuery(mailsQuery);
  return (
    <DrawerShell kind="edit" title={t("mailsTitle")} onClose={close}>
      {data ? <MailForm mails={data} /> : <DrawerLoading problem={error} onRetry={() => void refetch()} />}
    </DrawerShell>
  );
}

function MailForm({ mails }: { readonly mails: Notifications }) {
  const t = useTexts();
  const initial = useMemo<MailDraft>(() => {
    const { types, language, quiet, balance_limit: own, usual_balance_limit: usual } = mails;
    const limit = { hasOwnLimit: own !== null, balanceLimit: own ?? usual };
    return { types, language, ...limit, ...toQuietDraft(quiet, Intl.DateTimeFormat().resolvedOptions().timeZone) };
  }, [mails]);
  const form = useForm<MailDraft>({
    initial,
    check: (draft) => ({
      ...Object.fromEntries(Object.entries(checkQuiet(draft)).map(([name, key]) => [name, t(key)])),
      ...(draft.hasOwnLimit && draft.balanceLimit === undefined && { balanceLimit: t("limitWrong") }),
    }),
    save: async ({ types, language, hasOwnLimit, balanceLimit, ...rest }) => {
      const limit = hasOwnLimit && balanceLimit !== undefined ? balanceLimit : USUAL_LIMIT;
      await chooseMails({ types: [...types], language, quiet: toQuiet(rest), balance_limit: limit });
      toast("success", t("mailsSaved"));
    },
    onProblem: toastProblem,
  });
  const { values, errors, set } = form;
  return (
    <DrawerForm form={form} list={OWN.path} createLabel={undefined}>
      <FormSection title={t("sectionTypes")}>
        <TypesField
          values={values.types}
          error={errors.types}
          isOperator={false}
          locked={mails.locked}
          onChange={(types) => set("types", types)}
        />
        <Text textStyle="xs" color="fg.muted">
          {t("mailsHelp")}
        </Text>
        <SelectField
          label={t("language")}
          value={values.language}
          choices={WEBHOOK_LANGUAGES.map((value) => ({ value, label: LANGUAGES[value] }))}
          onChange={(next) => set("language", WEBHOOK_LANGUAGES.find((one) => one === next) ?? "en")}
        />
      </FormSection>
      <FormSection title={t("sectionBalance")}>
        <SwitchField
          label={t("ownLimit")}
          help={t("ownLimitHelp")}
          isOn={values.hasOwnLimit}
          onChange={(isOn) => set("hasOwnLimit", isOn)}
        />
        {values.hasOwnLimit && (
          <MoneyField
            label={t("balanceLimit")}
            quota={values.balanceLimit}
            error={errors.balanceLimit}
            onChange={(quota) => set("balanceLimit", quota)}
          />
        )}
      </FormSection>
      <FormSection title={t("sectionTiming")}>
        <QuietFields form={form} />
      </FormSection>
    </DrawerForm>
  );
}
