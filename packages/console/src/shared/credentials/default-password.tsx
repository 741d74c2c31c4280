import { selfUpdate } from "@fairway/wire";
import { Box, Button, Dialog, Flex, Portal, Text } from "@chakra-ui/react";
import { useId, type FormEvent } from "react";
import { call } from "../../lib/http.ts";
import { Icon } from "../../ui/display/icon.tsx";
import { NewPasswordFields, useNewPassword } from "../../ui/form/new-password.tsx";
import { useTexts } from "../texts.ts";
import { hasDefaultPassword } from "../../session/session.ts";

/** Blocks the console after signing in with the password of a new installation, and lets it be changed on the spot. */
export function DefaultPasswordWarning() {
  const t = useTexts();
  const id = useId();
  const form = useNewPassword((password) => call(selfUpdate, { body: { password } }));

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (await form.submit()) hasDefaultPassword.write(false);
  }

  return (
    <Dialog.Root
      open
      role="alertdialog"
      closeOnInteractOutside={false}
      closeOnEscape={false}
      placement="center"
      size="sm"
    >
      <Portal>
        <Dialog.Backdrop />
        <Dialog.Positioner px="4">
          <Dialog.Content>
            <Dialog.Header>
              <Flex gap="3" align="center">
                <Box color="fg.warning">
                  <Icon name="warning" size={22} />
                </Box>
                <Dialog.Title>{t("defaultTitle")}</Dialog.Title>
              </Flex>
            </Dialog.Header>
            <Dialog.Body>
              <Text mb="4">{t("defaultBody")}</Text>
              <form id={id} noValidate onSubmit={(event) => void submit(event)}>
                <Flex direction="column" gap="3">
                  <NewPasswordFields form={form} />
                </Flex>
              </form>
            </Dialog.Body>
            <Dialog.Footer>
              <Button variant="outline" onClick={() => hasDefaultPassword.write(false)}>
                {t("later")}
              </Button>
              <Button type="submit" form={id} loading={form.isSaving}>
                {t("changeNow")}
              </Button>
            </Dialog.Footer>
          </Dialog.Content>
        </Dialog.Positioner>
      </Portal>
    </Dialog.Root>
  );
}
