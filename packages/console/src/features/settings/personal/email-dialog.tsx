import { Flex, Text } from "@chakra-ui/react";
import { useState } from "react";
import { EmailFields } from "../../../shared/identity/email-fields.tsx";
import { useHumanCheck } from "../../../shared/identity/human-check.tsx";
import { useForm } from "../../../lib/use-form.ts";
import { FormDialog } from "../../../ui/form/form-dialog.tsx";
import { problemText, toast } from "../../../ui/feedback/toaster.ts";
import { bindAddress } from "../api.ts";
import { useTexts } from "../texts.ts";

/** Binds an address to the account with a code that is mailed to it. */
export function EmailDialog(props: { onClose(): void }) {
  const t = useTexts();
  const human = useHumanCheck();
  const [failure, setFailure] = useState<string>();
  const form = useForm({
    initial: { email: "", code: "" },
    check: ({ email, code }) => ({
      ...(email.trim() === "" && { email: t("emailMissing") }),
      ...(code.trim() === "" && { code: t("emailCodeMissing") }),
    }),
    save: ({ email, code }) => bindAddress(email.trim(), code.trim()),
    // A dialog hides what is outside it from screen readers.
    onProblem: (problem) => setFailure(problemText(problem)),
  });
  const submit = async () => {
    setFailure(undefined);
    if (!(await form.submit())) return;
    toast("success", t("emailBound"));
    props.onClose();
  };
  return (
    <FormDialog
      title={t("bindEmail")}
      submitLabel={t("bind")}
      isSaving={form.isSaving}
      onSubmit={() => void submit()}
      onClose={props.onClose}
    >
      <Flex direction="column" gap="4">
        {failure !== undefined && (
          <Text role="alert" textStyle="sm" color="fg.error">
            {failure}
          </Text>
        )}
        <EmailFields form={form} human={human} />
        {human.widget}
      </Flex>
    </FormDialog>
  );
}
