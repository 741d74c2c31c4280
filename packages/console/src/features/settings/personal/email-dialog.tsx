import { Button, Dialog, Flex, Portal, Text } from "@chakra-ui/react";
import { useId, useState, type FormEvent } from "react";
import { EmailFields } from "../../../shared/identity/email-fields.tsx";
import { useHumanCheck } from "../../../shared/identity/human-check.tsx";
import { useForm } from "../../../lib/use-form.ts";
import { useTexts as useUiTexts } from "../../../ui/texts.ts";
import { problemText, toast } from "../../../ui/feedback/toaster.ts";
import { bindAddress } from "../api.ts";
import { useTexts } from "../texts.ts";

/** Binds an address to the account with a code that is mailed to it. */
export function EmailDialog(props: { onClose(): void }) {
  const t = useTexts();
  const ui = useUiTexts();
  const id = useId();
  const human = useHumanCheck();
  const [failure, setFailure] = useState<string>();
  const form = useForm({
    initial: { email: "", code: "" },
    check: ({ email, code }) => ({
      ...(email.trim() === "" && { email: t("emailMissing") }),
      ...(code.trim() === "" && { code: t("emailCodeMissing") }),
    }),
    save: ({ email, code }) => bindAddress(email.trim(), code.trim()),
    // A dialog hides what is outside of it from screen readers.
    onProblem: (problem) => setFailure(problemText(problem)),
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setFailure(undefined);
    if (!(await form.submit())) return;
    toast("success", t("emailBound"));
    props.onClose();
  };
  return (
    <Dialog.Root open onOpenChange={(change) => !change.open && props.onClose()} placement="center" size="sm">
      <Portal>
        <Dialog.Backdrop />
        <Dialog.Positioner px="4">
          <Dialog.Content>
            <Dialog.Header>
              <Dialog.Title>{t("bindEmail")}</Dialog.Title>
            </Dialog.Header>
            <Dialog.Body>
              <form id={id} noValidate onSubmit={(event) => void submit(event)}>
                <Flex direction="column" gap="4">
                  {failure !== undefined && (
                    <Text role="alert" textStyle="sm" color="fg.error">
                      {failure}
                    </Text>
                  )}
                  <EmailFields form={form} human={human} />
                  {human.widget}
                </Flex>
              </form>
            </Dialog.Body>
            <Dialog.Footer>
              <Button variant="outline" onClick={props.onClose}>
                {ui("cancel")}
              </Button>
              <Button type="submit" form={id} loading={form.isSaving}>
                {t("bind")}
              </Button>
            </Dialog.Footer>
          </Dialog.Content>
        </Dialog.Positioner>
      </Portal>
    </Dialog.Root>
  );
}
