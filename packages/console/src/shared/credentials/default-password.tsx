import { selfUpdate } from "@fairway/wire";
import { Box, Button, Flex, Text } from "@chakra-ui/react";
import { useId, type FormEvent } from "react";
import { call } from "../../lib/http.ts";
import { Icon } from "../../ui/display/icon.tsx";
import { NewPasswordFields, useNewPassword } from "../../ui/form/new-password.tsx";
import { useTexts } from "../texts.ts";
import { hasDefaultPassword } from "../../session/session.ts";
import { Modal } from "../../ui/feedback/modal.tsx";

/** Blocks the console after signing in with the default password, and lets the user change it at once. */
export function DefaultPasswordWarning() {
  const t = useTexts();
  const id = useId();
  const form = useNewPassword((password) => call(selfUpdate, { body: { password } }));

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (await form.submit()) hasDefaultPassword.write(false);
  }

  return (
    <Modal
      title={t("defaultTitle")}
      mark={
        <Box color="fg.warning">
          <Icon name="warning" size={22} />
        </Box>
      }
      role="alertdialog"
      closeOnInteractOutside={false}
      closeOnEscape={false}
      size="sm"
      onClose={() => hasDefaultPassword.write(false)}
      footer={
        <>
          <Button variant="outline" onClick={() => hasDefaultPassword.write(false)}>
            {t("later")}
          </Button>
          <Button type="submit" form={id} loading={form.isSaving}>
            {t("changeNow")}
          </Button>
        </>
      }
    >
      <Text mb="4">{t("defaultBody")}</Text>
      <form id={id} noValidate onSubmit={(event) => void submit(event)}>
        <Flex direction="column" gap="3">
          <NewPasswordFields form={form} />
        </Flex>
      </form>
    </Modal>
  );
}
